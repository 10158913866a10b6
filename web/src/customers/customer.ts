import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { customer } from '../../../src/programme/customers/customer.ts'

/** As the pages request it: with the affiliates that the customer is linked to. */
export type Customer = Static<(typeof customer)['record']> &
  RaRecord<number> & { meta?: { affiliate_id: number[] } }

export const nameOf = ({ id, first_name, last_name, email }: Customer) =>
  `${first_name} ${last_name}`.trim() || email || `Customer ${id}`

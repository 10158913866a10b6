import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { paymentDetail } from '../../../src/programme/details/details.ts'
import { namedChoices } from '../ui/words.ts'

export type Detail = Static<typeof paymentDetail.record> & RaRecord<number>

/** A method that has no words here does not compile. */
const methodNames: Readonly<Record<Detail['method'], string>> = {
  paypal: 'PayPal',
  sepa: 'SEPA: IBAN',
  nacha: 'ACH: account in the USA',
}

export const detailMethods = namedChoices(methodNames)

/** One that is missing does not compile. */
export const detailStatuses = Object.keys({
  current: true,
  replaced: true,
  removed: true,
} satisfies Record<Detail['status'], true>)

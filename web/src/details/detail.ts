import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { paymentDetail } from '../../../src/programme/details/details.ts'

export type Detail = Static<typeof paymentDetail.record> & RaRecord<number>

export const detailMethods: { id: Detail['method']; name: string }[] = [
  { id: 'paypal', name: 'PayPal' },
  { id: 'sepa', name: 'SEPA: IBAN' },
  { id: 'nacha', name: 'ACH: account in the USA' },
]

export const detailStatuses: Detail['status'][] = ['current', 'replaced', 'removed']

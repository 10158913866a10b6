import { feature } from '../../records/feature.ts'
import { checks } from './check.ts'
import { paymentAddressesTable, paymentDetail } from './details.ts'
import { listing, paymentDetails as resource } from './routes.ts'

export const paymentDetails = feature(paymentDetail, {
  tables: [paymentDetail.table, paymentAddressesTable],
  resource,
  listing,
  checks,
  ended: ({ status }) => status === 'removed',
})

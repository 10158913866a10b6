import { crud, listingOf } from '../../records/crud.ts'
import { feature } from '../../records/feature.ts'
import { customer } from './customer.ts'
import { rules } from './rules.ts'

export const customers = feature(customer, {
  resource: crud(customer, rules, { create: ['customer_exists'], edit: ['customer_exists'] }),
  listing: listingOf(customer, rules),
})

import { feature } from '../../records/feature.ts'
import { customer } from './customer.ts'
import { listing, customers as resource } from './routes.ts'

export const customers = feature(customer, { resource, listing })

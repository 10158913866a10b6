import { storeOf } from '../../records/store.ts'
import { customer } from './customer.ts'

export const customers = storeOf(customer)

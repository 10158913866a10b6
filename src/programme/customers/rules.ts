/** What is true of customers: no two have the same e-mail address. */
import { plainRules, refusingTwo } from '../../records/rules.ts'
import { customer } from './customer.ts'
import { customers } from './store.ts'

export const rules = refusingTwo(plainRules(customer, customers), 'customer_exists')

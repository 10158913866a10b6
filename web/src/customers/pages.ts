import Icon from '@mui/icons-material/ShoppingBagOutlined'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'
import { type Customer, nameOf } from './customer.ts'

export const customers: RecordPages = {
  resource: 'customers',
  kind: 'customer',
  name: ['Customer', 'Customers'],
  section: 'Earning',
  icon: Icon,
  list: lazily(() => import('./CustomerList.tsx'), 'CustomerList'),
  create: lazily(() => import('./CustomerForms.tsx'), 'CustomerCreate'),
  edit: lazily(() => import('./CustomerForms.tsx'), 'CustomerEdit'),
  show: lazily(() => import('./CustomerShow.tsx'), 'CustomerShow'),
  titleOf: (customer: Customer) => `${nameOf(customer)}, ${customer.email}`,
  reads: { meta: 1 },
  conflicts: { affwp_rest_customer_email_in_use: { create: 'email', update: 'email' } },
}

import Icon from '@mui/icons-material/LockOutlined'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'

export const paymentDetails: RecordPages = {
  resource: 'payment-details',
  kind: 'payment_detail',
  name: ['Payment details', 'Payment details'],
  section: 'Paying',
  icon: Icon,
  list: lazily(() => import('./DetailList.tsx'), 'DetailList'),
  create: lazily(() => import('./DetailCreate.tsx'), 'DetailCreate'),
  secret: true,
  actions: { create: 'Payment details entered', delete: 'Payment details removed' },
}

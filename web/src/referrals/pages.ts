import Icon from '@mui/icons-material/SellOutlined'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'
import type { Referral } from './referral.ts'

export const referrals: RecordPages = {
  resource: 'referrals',
  kind: 'referral',
  name: ['Referral', 'Referrals'],
  section: 'Earning',
  icon: Icon,
  list: lazily(() => import('./ReferralList.tsx'), 'ReferralList'),
  create: lazily(() => import('./ReferralForms.tsx'), 'ReferralCreate'),
  edit: lazily(() => import('./ReferralForms.tsx'), 'ReferralEdit'),
  show: lazily(() => import('./ReferralShow.tsx'), 'ReferralShow'),
  // What is owed, from where it is taken, and why nothing is.
  together: ['affiliate_id', 'amount', 'status', 'type', 'rejection_reason'],
  titleOf: ({ description, reference }: Referral) => description || reference,
  actions: { return: 'Referral unpaid again' },
}

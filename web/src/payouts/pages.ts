import Icon from '@mui/icons-material/PaymentsOutlined'
import { methodName } from '../runs/run.ts'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'
import type { Payout } from './payout.ts'

export const payouts: RecordPages = {
  resource: 'payouts',
  kind: 'payout',
  name: ['Payout', 'Payouts'],
  section: 'Paying',
  icon: Icon,
  list: lazily(() => import('./PayoutList.tsx'), 'PayoutList'),
  create: lazily(() => import('./PayoutForms.tsx'), 'PayoutCreate'),
  edit: lazily(() => import('./PayoutEdit.tsx'), 'PayoutEdit'),
  // The API requires the affiliate in every edit of a payout.
  always: ['affiliate_id'],
  // What is owed.
  together: ['affiliate_id', 'amount', 'status', 'referrals'],
  titleOf: ({ payout_method, amount }: Payout) => `${amount} ${methodName(payout_method)}`,
  below: { notes: 'payout_run_id' },
  actions: { create: 'Payout recorded' },
}

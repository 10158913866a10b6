import Icon from '@mui/icons-material/AccountBalanceOutlined'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'
import { titleOf } from './run.ts'

export const payoutRuns: RecordPages = {
  resource: 'payout-runs',
  kind: 'payout_run',
  name: ['Payout run', 'Payout runs'],
  section: 'Paying',
  icon: Icon,
  list: lazily(() => import('./RunList.tsx'), 'RunList'),
  create: lazily(() => import('./RunCreate.tsx'), 'RunCreate'),
  show: lazily(() => import('./RunShow.tsx'), 'RunShow'),
  titleOf,
  actions: {
    edit: 'Payout run begun again',
    record: 'Results recorded: payout run',
    reserve: 'Payout run reserved earnings',
    refuse: 'Payout run not approved: it has changed',
    download: 'Payout run downloaded',
    cancel: 'Payout run cancelled',
  },
  steps: ['reserve', 'refuse', 'cancel'],
}

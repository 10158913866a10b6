import Icon from '@mui/icons-material/AdsClickOutlined'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'

export const visits: RecordPages = {
  resource: 'visits',
  kind: 'visit',
  name: ['Visit', 'Visits'],
  section: 'Earning',
  icon: Icon,
  list: lazily(() => import('./VisitList.tsx'), 'VisitList'),
  show: lazily(() => import('./VisitShow.tsx'), 'VisitShow'),
  unlogged: 'Visits are counted as they come: the audit log has no entry for each.',
}

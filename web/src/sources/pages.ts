import Icon from '@mui/icons-material/SensorsOutlined'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'

export const sources: RecordPages = {
  resource: 'sources',
  kind: 'source',
  name: ['Source', 'Sources'],
  section: 'Administration',
  icon: Icon,
  list: lazily(() => import('./SourceList.tsx'), 'SourceList'),
  create: lazily(() => import('./SourceForms.tsx'), 'SourceCreate'),
  edit: lazily(() => import('./SourceForms.tsx'), 'SourceEdit'),
}

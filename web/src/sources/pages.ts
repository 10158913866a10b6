import Icon from '@mui/icons-material/WebhookOutlined'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'
import { nameOf } from './source.ts'

export const sources: RecordPages = {
  resource: 'sources',
  kind: 'source',
  name: ['Source', 'Sources'],
  section: 'Administration',
  icon: Icon,
  list: lazily(() => import('./SourceList.tsx'), 'SourceList'),
  create: lazily(() => import('./SourceForms.tsx'), 'SourceCreate'),
  edit: lazily(() => import('./SourceForms.tsx'), 'SourceEdit'),
  titleOf: nameOf,
}

import Icon from '@mui/icons-material/LinkOutlined'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'
import { nameOf } from './link.ts'

export const links: RecordPages = {
  resource: 'links',
  kind: 'link',
  unlogged:
    'The audit log has no entries of this link: it was made together with its affiliate or imported, or is older than the log.',
  name: ['Link', 'Links'],
  section: 'Programme',
  icon: Icon,
  list: lazily(() => import('./LinkList.tsx'), 'LinkList'),
  create: lazily(() => import('./LinkForms.tsx'), 'LinkCreate'),
  edit: lazily(() => import('./LinkForms.tsx'), 'LinkEdit'),
  show: lazily(() => import('./LinkShow.tsx'), 'LinkShow'),
  titleOf: nameOf,
  conflicts: { rest_link_code_in_use: { create: 'code', update: 'code' } },
}

import Icon from '@mui/icons-material/WorkspacesOutlined'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'
import { nameOf } from './group.ts'

export const groups: RecordPages = {
  resource: 'groups',
  kind: 'group',
  name: ['Group', 'Groups'],
  section: 'Programme',
  icon: Icon,
  list: lazily(() => import('./GroupList.tsx'), 'GroupList'),
  create: lazily(() => import('./GroupForms.tsx'), 'GroupCreate'),
  edit: lazily(() => import('./GroupForms.tsx'), 'GroupEdit'),
  titleOf: nameOf,
  conflicts: { rest_group_exists: { create: 'name', update: 'name' } },
}

import Icon from '@mui/icons-material/CampaignOutlined'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'
import { nameOf } from './creative.ts'

export const creatives: RecordPages = {
  resource: 'creatives',
  kind: 'creative',
  name: ['Creative', 'Creatives'],
  section: 'Programme',
  icon: Icon,
  list: lazily(() => import('./CreativeList.tsx'), 'CreativeList'),
  create: lazily(() => import('./CreativeForms.tsx'), 'CreativeCreate'),
  edit: lazily(() => import('./CreativeForms.tsx'), 'CreativeEdit'),
  titleOf: nameOf,
}

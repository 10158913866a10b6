import Icon from '@mui/icons-material/ShoppingCartOutlined'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'
import { titleOf } from './conversion.ts'

export const conversions: RecordPages = {
  resource: 'conversions',
  kind: 'conversion',
  name: ['Conversion', 'Conversions'],
  section: 'Earning',
  icon: Icon,
  list: lazily(() => import('./ConversionList.tsx'), 'ConversionList'),
  show: lazily(() => import('./ConversionShow.tsx'), 'ConversionShow'),
  titleOf,
  actions: {
    create: 'Conversion reported',
    unattributed: 'Conversion credited to nobody',
    attribute: 'Conversion credited',
    claim: 'Later claim to a conversion refused',
  },
}

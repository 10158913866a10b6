import Icon from '@mui/icons-material/ConfirmationNumberOutlined'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'
import { nameOf } from './coupon.ts'

export const coupons: RecordPages = {
  resource: 'coupons',
  kind: 'coupon',
  name: ['Coupon', 'Coupons'],
  section: 'Programme',
  icon: Icon,
  list: lazily(() => import('./CouponList.tsx'), 'CouponList'),
  create: lazily(() => import('./CouponForms.tsx'), 'CouponCreate'),
  edit: lazily(() => import('./CouponForms.tsx'), 'CouponEdit'),
  titleOf: nameOf,
  conflicts: { rest_coupon_exists: { create: 'code', update: 'code' } },
}

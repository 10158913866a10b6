import { crud, listingOf } from '../../records/crud.ts'
import { feature } from '../../records/feature.ts'
import { coupon } from './coupon.ts'
import { rules } from './rules.ts'

export const coupons = feature(coupon, {
  resource: crud(coupon, rules, { create: ['coupon_exists'], edit: ['coupon_exists'] }),
  listing: listingOf(coupon, rules),
})

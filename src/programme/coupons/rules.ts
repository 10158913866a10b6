/** Rules for coupons: codes are unique. */
import { plainRules, refusingTwo } from '../../records/rules.ts'
import { coupon } from './coupon.ts'
import { coupons } from './store.ts'

export const rules = refusingTwo(plainRules(coupon, coupons), 'coupon_exists')

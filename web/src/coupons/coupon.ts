import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { coupon } from '../../../src/programme/coupons/coupon.ts'

export type Coupon = Static<(typeof coupon)['record']> & RaRecord<number>

/** One that is missing does not compile. */
export const statuses = Object.keys({
  active: true,
  inactive: true,
} satisfies Record<Coupon['status'], true>)

export const nameOf = ({ code }: Coupon) => code

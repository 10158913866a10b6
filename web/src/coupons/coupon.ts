import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { coupon } from '../../../src/programme/coupons/coupon.ts'

export type Coupon = Static<(typeof coupon)['record']> & RaRecord<number>

export const statuses: Coupon['status'][] = ['active', 'inactive']

export const nameOf = ({ code }: Coupon) => code

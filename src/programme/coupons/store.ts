/** Queries specific to coupons: by code. */
import { foldCase } from '../../base/text.ts'
import { storeOf } from '../../records/store.ts'
import type { Db } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import { type Coupon, coupon } from './coupon.ts'

export const coupons = storeOf(coupon)

const byCode = prepared((db: Db, { key }: { key: string }) =>
  db.selectFrom('coupons').selectAll().where('code_key', '=', key),
)

/** The coupon with this code, ignoring case. */
export async function findByCode(db: Db, code: string): Promise<Coupon | undefined> {
  return (await byCode(db, { key: foldCase(code.trim()) }))[0]
}

/** The count and sum of the referrals in a list, by status. */
import { Type } from 'typebox'
import { byName } from '../../base/by-name.ts'
import { exactNumber } from '../../base/money.ts'
import type { Context } from '../../events/write.ts'
import { narrowed } from '../../records/rules.ts'
import { unitsOfSum } from '../../storage/sums.ts'
import { referral, statuses } from './referral.ts'
import { sumByStatus } from './store.ts'

const totalSchema = Type.Object({
  count: Type.Integer({ description: 'Number of referrals.' }),
  sum: Type.Number({ description: "Sum of their amounts, in the programme's currency." }),
})

const byStatus = byName(statuses, () => totalSchema)

export const referralTotals = Type.Object({
  ...totalSchema.properties,
  by_status: Type.Object(byStatus, { description: 'Number and sum for each status.' }),
})

/** @param args the filters */
export async function totalReferrals(context: Context, args: object) {
  const settings = await context.settings.current()
  const rows = await sumByStatus(context.database.replica, narrowed(referral, args, settings))
  const totals = statuses.map(status => {
    const row = rows.find(sumRow => sumRow.status === status)
    return { status, count: row?.count ?? 0, sum: row ? unitsOfSum(row.sum) : 0n }
  })
  const totalOf = (count: number, sum: bigint) => ({ count, sum: exactNumber(sum, settings.decimals) })
  return {
    ...totalOf(
      totals.reduce((total, { count }) => total + count, 0),
      totals.reduce((total, { sum }) => total + sum, 0n),
    ),
    by_status: Object.fromEntries(totals.map(({ status, count, sum }) => [status, totalOf(count, sum)])),
  }
}

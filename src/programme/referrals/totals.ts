/** How many referrals a list is narrowed to, and what they come to, by status. */
import { Type } from 'typebox'
import { exactNumber } from '../../base/money.ts'
import type { Context } from '../../events/write.ts'
import { narrowed } from '../../records/rules.ts'
import { unitsOfSum } from '../../storage/sums.ts'
import { type Referral, referral, statuses } from './referral.ts'
import { sumByStatus } from './store.ts'

const part = Type.Object({
  count: Type.Integer({ description: 'How many.' }),
  sum: Type.Number({ description: 'What they come to, in the currency of the settings.' }),
})

const byStatus = Object.fromEntries(statuses.map(name => [name, part])) as Record<
  Referral['status'],
  typeof part
>

export const referralTotals = Type.Object({
  ...part.properties,
  by_status: Type.Object(byStatus, { description: 'Those of each status.' }),
})

export async function totalReferrals(context: Context, args: object) {
  const settings = await context.settings.current()
  const rows = await sumByStatus(context.database.replica, narrowed(referral, args, settings))
  const totals = statuses.map(status => {
    const row = rows.find(one => one.status === status)
    return { status, count: row?.count ?? 0, sum: row ? unitsOfSum(row.sum) : 0n }
  })
  const shown = (count: number, sum: bigint) => ({ count, sum: exactNumber(sum, settings.decimals) })
  return {
    ...shown(
      totals.reduce((all, { count }) => all + count, 0),
      totals.reduce((all, { sum }) => all + sum, 0n),
    ),
    by_status: Object.fromEntries(totals.map(({ status, count, sum }) => [status, shown(count, sum)])),
  }
}

/**
 * Affiliates' sales by month, for rules with tiers. The sums change with each referral: adding up thousands of sales for
 * the next one would take longer than everything else.
 */
import { monthFrom } from '../../base/time.ts'
import type { Db, Tx } from '../../storage/database.ts'
import type { Referral } from '../referrals/referral.ts'
import type { SoldBefore } from './sale.ts'
import { addToMonths, isSold, type SalesOfMonth, soldUntil } from './sales-store.ts'

/** The columns of a referral that decide what it adds. */
export type Sold = Pick<Referral, 'affiliate_id' | 'status' | 'type' | 'created_at' | 'order_total'>

interface Change {
  readonly before?: Sold | undefined
  readonly after?: Sold | undefined
}

/** By affiliate and month. */
type Sums = Map<number, Map<number, SalesOfMonth>>

/** Per transaction: sums to be written at its end. */
const unwritten = new WeakMap<Db, Sums>()

/** Writes the sums of all changes in `work` by one statement at the end; `salesOf` sees them at once. */
export async function addSalesTogether<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  const sums: Sums = new Map()
  unwritten.set(tx, sums)
  try {
    const result = await work()
    await write(tx, sums)
    return result
  } finally {
    unwritten.delete(tx)
  }
}

/** Adds the effect of changed referrals. */
export async function addSales(tx: Tx, changes: readonly Change[]): Promise<void> {
  const together = unwritten.get(tx)
  const sums: Sums = together ?? new Map()
  for (const { before, after } of changes) {
    if (after) add(sums, after, 1)
    if (before) add(sums, before, -1)
  }
  if (!together) await write(tx, sums)
}

function add(sums: Sums, sold: Sold, by: 1 | -1): void {
  if (!isSold(sold)) return
  const { affiliate_id: affiliateId, created_at, order_total } = sold
  const month = monthFrom(created_at)
  const months = sums.get(affiliateId) ?? new Map<number, SalesOfMonth>()
  sums.set(affiliateId, months)
  const { sales, volume } = months.get(month) ?? { sales: 0, volume: 0n }
  const added = BigInt(by * (order_total ?? 0))
  months.set(month, { affiliateId, month, sales: sales + by, volume: volume + added })
}

async function write(tx: Tx, sums: Sums): Promise<void> {
  const changes = [...sums.values()].flatMap(months =>
    [...months.values()].filter(({ sales, volume }) => sales !== 0 || volume !== 0n),
  )
  changes.sort((a, b) => a.affiliateId - b.affiliateId || a.month - b.month)
  await addToMonths(tx, changes)
}

/** What an affiliate has sold up to a second, in the programme's minor unit: in its month, and ever. */
export async function salesOf(db: Db, affiliateId: number, last: number): Promise<SoldBefore> {
  const month = monthFrom(last)
  const sold = await soldUntil(db, { affiliateId, month, next: monthFrom(last, 1), last })
  for (const added of unwritten.get(db)?.get(affiliateId)?.values() ?? []) {
    if (added.month > month) continue
    sold.sales_ever += BigInt(added.sales)
    sold.volume_ever += added.volume
    if (added.month < month) continue
    sold.sales_in_month += BigInt(added.sales)
    sold.volume_in_month += added.volume
  }
  return sold
}

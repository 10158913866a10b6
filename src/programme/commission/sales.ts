/**
 * Affiliates' sales by month, for rules with tiers. The sums change with each referral: adding up thousands of sales for
 * the next one would take longer than everything else.
 */
import { monthFrom } from '../../base/time.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { pastWaiting } from '../../storage/insert-many.ts'
import type { Referral } from '../referrals/referral.ts'
import type { EarlierSales } from './sale.ts'
import { addToMonths, isSold, type SalesOfMonth, salesUntil } from './sales-store.ts'

/** The columns of a referral that decide what it adds to a month. */
export type SaleColumns = Pick<
  Referral,
  'affiliate_id' | 'status' | 'type' | 'created_at' | 'order_total' | 'calculation'
>

interface Change {
  readonly before?: SaleColumns | undefined
  readonly after?: SaleColumns | undefined
}

/** By affiliate and month. */
type Sums = Map<number, Map<number, SalesOfMonth>>

interface Together {
  /** To be written at the end. */
  readonly sums: Sums
  /** What the database says of affiliates until the end, each up to a second. */
  readonly stored: Map<number, { readonly last: number; readonly sold: EarlierSales }>
  /** The latest second of any sale that was added or changed. */
  latest: number
}

/** Of transactions that write their sums at the end. */
const collected = new WeakMap<Db, Together>()

/** Writes the sums of all changes in `work` by one statement at the end; `salesOf` sees them at once. */
export async function addSalesTogether<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  const sums: Sums = new Map()
  collected.set(tx, { sums, stored: new Map(), latest: 0 })
  try {
    const result = await work()
    await write(tx, sums)
    return result
  } finally {
    collected.delete(tx)
  }
}

/** Adds the effect of changed referrals. */
export async function addSales(tx: Tx, changes: readonly Change[]): Promise<void> {
  const together = collected.get(tx)
  const sums: Sums = together?.sums ?? new Map()
  for (const { before, after } of changes) {
    if (after) add(sums, after, 1)
    if (before) add(sums, before, -1)
    for (const side of [before, after]) if (side && together) note(together, side)
  }
  if (!together) await write(tx, sums)
}

/** Stored sales change where one is later than their last second: it is taken off them. */
function note(together: Together, { affiliate_id, created_at }: SaleColumns): void {
  const { stored } = together
  if (created_at > (stored.get(affiliate_id)?.last ?? created_at)) stored.delete(affiliate_id)
  together.latest = Math.max(together.latest, created_at)
}

function add(sums: Sums, sold: SaleColumns, by: 1 | -1): void {
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
export async function salesOf(db: Db, affiliateId: number, last: number): Promise<EarlierSales> {
  const month = monthFrom(last)
  const together = collected.get(db)
  const known = together?.stored.get(affiliateId)
  const read = () => salesUntil(db, { affiliateId, month, next: monthFrom(last, 1), last })
  const isLatest = together !== undefined && together.latest <= last
  const stored = known?.last === last ? known.sold : await (isLatest ? pastWaiting(db, read) : read())
  together?.stored.set(affiliateId, { last, sold: stored })
  const sold = { ...stored }
  for (const added of together?.sums.get(affiliateId)?.values() ?? []) {
    if (added.month > month) continue
    sold.sales_ever += BigInt(added.sales)
    sold.volume_ever += added.volume
    if (added.month < month) continue
    sold.sales_in_month += BigInt(added.sales)
    sold.volume_in_month += added.volume
  }
  return sold
}

/** The queries that read the items of a run page by page, in order of affiliate. */
import { sql } from 'kysely'
import type { Db } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import type { Item, ItemStatus } from './item.ts'
import { itemStatuses } from './words.ts'

interface ItemPage {
  readonly runId: number
  readonly statuses: readonly ItemStatus[]
  /** The affiliate of the last item that was read. */
  readonly after: number
  readonly limit: number
}

const page = prepared((db: Db, { runId, statuses, after, limit }: ItemPage) =>
  db
    .selectFrom('run_items')
    .selectAll()
    .where('run_id', '=', runId)
    // An expression, since the index of statuses would have to be sorted for each page.
    .where(sql<string>`coalesce(status, '')`, 'in', statuses)
    .where('affiliate_id', '>', after)
    .orderBy('affiliate_id')
    .limit(limit),
)

/** The next items of a run with one of these statuses, in order of affiliate. */
export async function itemsAfter(db: Db, args: ItemPage): Promise<Item[]> {
  return page(db, args)
}

const ITEMS_AT_ONCE = 500

/** The items of a run with one of these statuses, or all, in order of affiliate. */
export async function* itemPages(
  db: Db,
  runId: number,
  statuses: readonly ItemStatus[] = itemStatuses,
): AsyncGenerator<Item[]> {
  for (let after = 0; ; ) {
    const items = await itemsAfter(db, { runId, statuses, after, limit: ITEMS_AT_ONCE })
    yield items
    if (items.length < ITEMS_AT_ONCE) return
    after = items.at(-1)!.affiliate_id
  }
}

import { sql } from 'kysely'
import type { Db } from '../../storage/database.ts'
import { exactSum } from '../../storage/sums.ts'
import type { Item, ItemStatus } from './item.ts'

export interface StatusSum {
  readonly status: ItemStatus
  readonly reason: Item['reason']
  readonly count: number
  readonly sum: string
}

/** How many items of a run have each status and reason, and what they come to. */
export async function sumItems(db: Db, runId: number): Promise<StatusSum[]> {
  return db
    .selectFrom('run_items')
    .select(['status', 'reason', sql<number>`count(*)`.as('count'), exactSum(sql.ref('amount')).as('sum')])
    .where('run_id', '=', runId)
    .groupBy(['status', 'reason'])
    .orderBy('status')
    .orderBy('reason')
    .execute()
}

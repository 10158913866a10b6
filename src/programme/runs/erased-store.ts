/** The queries on payees who were erased after their run was approved. */
import { sql } from 'kysely'
import type { Db, Tx } from '../../storage/database.ts'
import type { ItemStatus } from './item.ts'

/** The places, from 0, of payees in the files of a run whose accounts were erased. */
export async function erasedPlaces(
  db: Db,
  runId: number,
  statuses: readonly ItemStatus[],
): Promise<number[]> {
  const items = db
    .selectFrom('run_items')
    .where('run_id', '=', runId)
    .where(sql<string>`coalesce(status, '')`, 'in', statuses)
  const any = await items.select('id').where('payee_account', '=', '').limit(1).execute()
  if (any.length === 0) return []
  const placed = items.select([
    'payee_account',
    sql<number>`row_number() OVER (ORDER BY affiliate_id) - 1`.as('place'),
  ])
  const rows = await db
    .selectFrom(placed.as('placed'))
    .select('place')
    .where('payee_account', '=', '')
    .orderBy('place')
    .execute()
  return rows.map(({ place }) => place)
}

const ERASED =
  'The payee was erased: no file pays it any more. Record it as failed, and it is owed again, unless it was paid before.'

/** Says at the open items of erased payees what is to be done about them. */
export async function noteErased(tx: Tx, affiliateIds: readonly number[]): Promise<void> {
  if (affiliateIds.length === 0) return
  await tx
    .updateTable('run_items')
    .set({ note: ERASED })
    .where('affiliate_id', 'in', affiliateIds)
    .where('status', 'in', ['reserved', 'unknown'])
    .execute()
}

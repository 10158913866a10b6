/** The queries on payees whom files lack: they were erased after the approval, or nobody can open their details any more. */
import { sql } from 'kysely'
import type { Db, Tx } from '../../storage/database.ts'
import { isLost } from '../details/store.ts'
import type { ItemStatus } from './item.ts'
import { openStatuses } from './words.ts'

const isMissing = () => sql<boolean>`(payee_account = '' OR ${isLost('details_id')})`

/** The places, from 0, of payees whom the files of a run lack. */
export async function missingPlaces(
  db: Db,
  runId: number,
  statuses: readonly ItemStatus[],
): Promise<number[]> {
  const items = db
    .selectFrom('run_items')
    .where('run_id', '=', runId)
    .where(sql<string>`coalesce(status, '')`, 'in', statuses)
  const any = await items.select('id').where(isMissing()).limit(1).execute()
  if (any.length === 0) return []
  const placed = items.select([
    'payee_account',
    'details_id',
    sql<number>`row_number() OVER (ORDER BY affiliate_id) - 1`.as('place'),
  ])
  const rows = await db
    .selectFrom(placed.as('placed'))
    .select('place')
    .where(isMissing())
    .orderBy('place')
    .execute()
  return rows.map(({ place }) => place)
}

const ERASED =
  'The payee was erased: no file pays it any more. Record it as failed, and it is owed again, unless it was paid before.'

const LOST =
  'The key that had sealed the payment details is lost: no file pays this any more. Record it as failed, and it is owed again, unless it was paid before.'

/** Says at the open items of a run whose details cannot be opened what is to be done about them. */
export async function noteLost(tx: Tx, runId: number): Promise<void> {
  await tx
    .updateTable('run_items')
    .set({ note: LOST })
    .where('run_id', '=', runId)
    .where('status', 'in', openStatuses)
    .where(isLost('details_id'))
    .execute()
}

/** Says at the open items of erased payees what is to be done about them. */
export async function noteErased(tx: Tx, affiliateIds: readonly number[]): Promise<void> {
  if (affiliateIds.length === 0) return
  await tx
    .updateTable('run_items')
    .set({ note: ERASED })
    .where('affiliate_id', 'in', affiliateIds)
    .where('status', 'in', openStatuses)
    .execute()
}

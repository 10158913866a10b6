/**
 * Every query of the tracking: the keys of click tokens, the salt of the day, the visitors of the day, and bulk inserts
 * of visits.
 */
import { type Insertable, type Selectable, sql } from 'kysely'
import type { Db, Tx } from '../../storage/database.ts'
import { insertMany } from '../../storage/insert-many.ts'
import { prepared } from '../../storage/prepared.ts'
import type { Tables } from '../../storage/tables.ts'

export type KeyRow = Selectable<Tables['click_keys']>

const allKeys = prepared((db: Db) =>
  db.selectFrom('click_keys').selectAll().orderBy('created_at', 'desc').orderBy('id'),
)

/** The newest first. */
export const keys = (db: Db): Promise<KeyRow[]> => allKeys(db, {})

export async function insertKey(tx: Tx, key: KeyRow): Promise<void> {
  await tx.insertInto('click_keys').values(key).execute()
}

export async function removeKeys(tx: Tx, ids: readonly number[]): Promise<void> {
  await tx.deleteFrom('click_keys').where('id', 'in', ids).execute()
}

const readSalt = prepared((tx: Db) => tx.selectFrom('visitor_salt').select(['day', 'salt']))

/**
 * The salt of a day, or of the latest where that is over; the first visit of a day replaces that of the day before.
 * @param newSalt used where the day has none
 * @param lastDay one later than this was written while a clock was wrong: it must not stay until that day
 */
export async function saltOf(tx: Tx, day: number, newSalt: string, lastDay: number): Promise<string> {
  const [row] = await readSalt(tx, {})
  if (row && row.day >= day && row.day <= lastDay) return row.salt
  await tx
    .updateTable('visitor_salt')
    .set({ day, salt: newSalt })
    .where('id', '=', 1)
    .where(({ or, eb }) => or([eb('day', '<', day), eb('day', '>', lastDay)]))
    .execute()
  // Of two transactions at once, one has written it.
  return (await readSalt(tx, {}))[0]!.salt
}

interface Visitor {
  readonly hash: string
  readonly day: number
}

/**
 * @param hashes in order, each once
 * @returns those that were not there yet on this day
 */
export async function addVisitors(
  tx: Tx,
  hashes: readonly string[],
  day: number,
): Promise<Pick<Visitor, 'hash'>[]> {
  const rows: readonly Visitor[] = hashes.map(hash => ({ hash, day }))
  return insertMany(
    tx,
    { table: 'visitors', ending: 'ON CONFLICT (day, hash) DO NOTHING RETURNING hash' },
    rows,
  )
}

/** @returns how many were removed, at most `limit` */
export async function removeVisitors(tx: Tx, beforeDay: number, limit: number): Promise<number> {
  const rows = await tx
    .selectFrom('visitors')
    .select(['day', 'hash'])
    .where('day', '<', beforeDay)
    .orderBy('day')
    .orderBy('hash')
    .limit(limit)
    .forUpdate()
    .execute()
  const last = rows.at(-1)
  if (last) {
    await tx.deleteFrom('visitors').where(sql<boolean>`(day, hash) <= (${last.day}, ${last.hash})`).execute()
  }
  return rows.length
}

export type NewVisit = Insertable<Tables['visits']>

export async function insertVisits(tx: Tx, rows: readonly NewVisit[]): Promise<void> {
  await insertMany(tx, { table: 'visits' }, rows)
}

/** What the service did with a report of the script. */
export type BeaconOutcome = 'counted' | 'not counted' | 'no affiliate' | 'other host'

/** The last report of the script from a host of the settings. */
export interface Sighting {
  /** The host as the settings name it; '' stands for all others. */
  readonly place: string
  readonly url: string
  readonly outcome: BeaconOutcome
  /** 0 when there is none. */
  readonly affiliateId: number
  /** In seconds. */
  readonly time: number
}

/**
 * Stores the last report of the script from a place.
 * @param countedAt when one was last counted, which may be an earlier one; 0 leaves what is stored
 */
export async function keepSighting(
  tx: Tx,
  { place, url, outcome, affiliateId, time }: Sighting,
  countedAt: number,
): Promise<void> {
  const row = { url, outcome, affiliate_id: affiliateId, seen_at: time }
  await tx
    .insertInto('script_pages')
    .values({ place, ...row, counted_at: countedAt, loaded_at: 0 })
    .onConflict(conflict =>
      conflict.column('place').doUpdateSet({ ...row, ...(countedAt > 0 && { counted_at: countedAt }) }),
    )
    .execute()
}

export async function keepLoad(tx: Tx, place: string, time: number): Promise<void> {
  await tx
    .insertInto('script_pages')
    .values({ place, url: '', outcome: '', affiliate_id: 0, seen_at: 0, counted_at: 0, loaded_at: time })
    .onConflict(conflict => conflict.column('place').doUpdateSet({ loaded_at: time }))
    .execute()
}

/** The last reports of the script on the shop's pages. */
export function scriptPages(db: Db): Promise<Selectable<Tables['script_pages']>[]> {
  return db.selectFrom('script_pages').selectAll().orderBy('place').execute()
}

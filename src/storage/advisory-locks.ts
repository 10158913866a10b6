/**
 * Advisory locks on identifiers, where there is no row to lock, or where its lock would be in the way of others. PostgreSQL holds them
 * until the transaction ends; an embedded database has only one writer.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from './database.ts'
import { directRun, prepared } from './prepared.ts'

/** How long a transaction waits that is `brief`. */
export const BRIEF_MS = 100
/**
 * How long it waits for these locks, and from then on for any. Whoever has the lock before it needs as long as itself; and one that
 * gives up, and repeats its work in many transactions that each wait for the lock, keeps the others waiting even longer. Less than the
 * second after which PostgreSQL looks for transactions that wait for one another in a circle.
 */
const TURN_MS = 500

/** Stands for all identifiers. The program's other advisory locks have positive numbers, so identifiers are negated. */
const ALL = sql.lit(0)

const patience = sql`CASE current_setting('lock_timeout') WHEN ${sql.lit(`${BRIEF_MS}ms`)}
  THEN set_config('lock_timeout', ${sql.lit(`${TURN_MS}ms`)}, true) END`

const locking = (lock: RawBuilder<unknown>) => (db: Db) => ({
  compile: () => sql<unknown>`SELECT ${patience}, ${lock}`.compile(db),
})
const some = prepared(locking(sql`pg_advisory_xact_lock_shared(${ALL})`))
const all = prepared(locking(sql`pg_advisory_xact_lock(${ALL})`))
const one = prepared((db: Db, { id }: { id: number }) =>
  locking(sql`pg_advisory_xact_lock(-cast(${id} as bigint))`)(db),
)

/**
 * Locks identifiers until the transaction ends. Called first without any, before rows are locked that others may lock while they
 * have all identifiers; then, with all those that it needs. The locks travel with the next statement, which sees what those have
 * committed who had them before.
 */
export async function lockIdentifiers(tx: Tx, ids: Iterable<number> = []): Promise<void> {
  if (directRun(tx)) return
  await some.later(tx, {})
  // In order, so that transactions do not wait for one another in a circle.
  for (const id of [...new Set(ids)].sort((a, b) => a - b)) await one.later(tx, { id })
}

/** Locks all, for a transaction that cannot tell which it needs before it locks what others lock while they have some. */
export async function lockAllIdentifiers(tx: Tx): Promise<void> {
  if (!directRun(tx)) await all.later(tx, {})
}

/**
 * Locks on numbers, where there is no row to lock or its lock would be in the way of others. They are locks of transactions on the
 * server; an embedded database has only one writer.
 */
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from './database.ts'
import { directRun, prepared } from './prepared.ts'

/** How long a transaction waits that is `brief`. */
export const BRIEF_MS = 100
/**
 * How long it waits for a number, and from then on. Whoever has the number before it needs as long as itself; and who gives up and
 * repeats its work in many transactions, each of which waits for the number, keeps the others waiting even longer. Less than the
 * second after which the server looks for those who wait for one another in a circle.
 */
const TURN_MS = 500

/** Stands for all numbers. The program's other locks of this kind have positive ones. */
const ALL = sql.lit(0)

const patience = sql`CASE current_setting('lock_timeout') WHEN ${sql.lit(`${BRIEF_MS}ms`)}
  THEN set_config('lock_timeout', ${sql.lit(`${TURN_MS}ms`)}, true) END`

const locking = (lock: RawBuilder<unknown>) => (db: Db) => ({
  compile: () => sql<unknown>`SELECT ${patience}, ${lock}`.compile(db),
})
const some = prepared(locking(sql`pg_advisory_xact_lock_shared(${ALL})`))
const all = prepared(locking(sql`pg_advisory_xact_lock(${ALL})`))
const one = prepared((db: Db, { number }: { number: number }) =>
  locking(sql`pg_advisory_xact_lock(-cast(${number} as bigint))`)(db),
)

/**
 * Locks numbers above 0 until the transaction ends. Called first without any, before rows are locked that others may lock while they
 * have all numbers; then, with all those that it needs. The locks travel with the next statement, which sees what those have
 * committed who had them before.
 */
export async function lockNumbers(tx: Tx, numbers: Iterable<number> = []): Promise<void> {
  if (directRun(tx)) return
  await some.later(tx, {})
  // In order, so that transactions do not wait for one another in a circle.
  for (const number of [...new Set(numbers)].sort((a, b) => a - b)) await one.later(tx, { number })
}

/** Locks all, for a transaction that cannot tell which it needs before it locks what others lock while they have some. */
export async function lockAllNumbers(tx: Tx): Promise<void> {
  if (!directRun(tx)) await all.later(tx, {})
}

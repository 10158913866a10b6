/** Key rotation: seals stored texts with a new key. Each folder declares its sealed columns as `Sealed`. */
import { sql } from 'kysely'
import { Failure } from '../base/errors.ts'
import type { Database, Db, Tx } from './database.ts'
import {
  beginRotation,
  endRotation,
  isKeyMissing,
  KEY_NAME_LENGTH,
  leftPrefixes,
  refuseMissingKeys,
  seal,
  unseal,
} from './secret-keys.ts'

/**
 * A column of sealed texts. Empty text is not sealed: it was erased, or never given.
 * @typeParam R further columns of its rows
 */
export interface Sealed<R = unknown> {
  readonly table: string
  readonly column: string
  /** The column of numbers that identifies a row; `id` if omitted. */
  readonly key?: string
  /** What the text of a row belongs to, see `seal`. */
  about(row: SealedRow & R): string
  /** What is wrong with a row whose key is present; if omitted, only whether its text can be opened is checked. */
  problem?(row: SealedRow & R): string | undefined
}

interface SealedRow {
  readonly key: number
  readonly text: string
}

const ROWS_AT_ONCE = 200
const MOST_NAMED = 10

/** Names of the keys in use; sealed texts begin with them. */
async function keysIn(db: Db, { table, column }: Sealed): Promise<string[]> {
  const name = sql`substr(${sql.ref(column)}, 1, ${sql.lit(KEY_NAME_LENGTH)})`
  const { rows } = await sql<{ name: string }>`
    SELECT DISTINCT ${name} AS name FROM ${sql.table(table)} WHERE ${sql.ref(column)} <> ''`.execute(db)
  return rows.map(row => row.name)
}

/** The next rows whose sealed text begins with none of these prefixes, in order. */
async function rowsIn(
  db: Db,
  { table, column, key = 'id' }: Sealed,
  without: readonly string[],
  after: number,
  limit = ROWS_AT_ONCE,
): Promise<SealedRow[]> {
  const [name, text] = [sql.ref(key), sql.ref(column)]
  const { rows } = await sql<SealedRow>`
    SELECT *, ${name} AS key, ${text} AS text FROM ${sql.table(table)}
    WHERE ${name} > ${after} AND ${text} <> '' AND ${beginsWithNone(column, without)}
    ORDER BY ${name} LIMIT ${limit}`.execute(db)
  return rows
}

/** Replaces the text of a row, unless it has changed meanwhile. */
async function replace(
  tx: Tx,
  { table, column, key = 'id' }: Sealed,
  row: SealedRow,
  text: string,
): Promise<void> {
  await sql`UPDATE ${sql.table(table)} SET ${sql.ref(column)} = ${text}
    WHERE ${sql.ref(key)} = ${row.key} AND ${sql.ref(column)} = ${row.text}`.execute(tx)
}

/** SQL for whether a sealed column begins with none of these prefixes. */
export const beginsWithNone = (column: string, prefixes: readonly string[]) =>
  sql<boolean>`${sql.join(
    [sql`1 = 1`, ...prefixes.map(prefix => sql`${sql.ref(column)} NOT LIKE ${`${prefix}%`}`)],
    sql` AND `,
  )}`

/**
 * Checks that no key is missing, at the start and before a rotation. Otherwise, the loss of a key would be noticed at the next use
 * of a text that it has sealed.
 * @param isMeant selects the names to check: a text that was altered may begin with anything
 * @throws Failure secret_key if something is sealed by a missing key
 */
export async function refuseLostKeys(
  db: Db,
  sealedKinds: readonly Sealed[],
  isMeant = (_name: string) => true,
): Promise<void> {
  const names = new Set<string>()
  for (const sealed of sealedKinds) for (const name of await keysIn(db, sealed)) names.add(name)
  refuseMissingKeys([...names].filter(isMeant))
}

/**
 * Seals everything with a new key, and drops the old one once nothing is sealed by it, which is checked while nobody can seal.
 * Texts of a key that is given up stay as they are, in case it is found. If this is interrupted, running it again completes it.
 * @returns the number of texts sealed again
 * @throws Failure secret_key
 */
export async function rotateSecretKey(database: Database, sealedKinds: readonly Sealed[]): Promise<number> {
  // Before anything is written: the key file may be a wrong one, or a key may be missing from it.
  await refuseLostKeys(database.reader, sealedKinds)
  await locked(database, 'alone', async () => beginRotation())
  let count = 0
  for (;;) {
    const altered: string[] = []
    for (const sealed of sealedKinds) count += await resealAll(database, sealed, altered)
    if (altered.length > 0) {
      throw new Failure('secret_key', {
        message: `Everything else is sealed by the new key, and the old one stays: ${altered.slice(0, MOST_NAMED).join('; ')}. Enter these anew, or restore a backup, and do this again.`,
      })
    }
    if (await locked(database, 'alone', tx => endWhereNoneIsStale(tx, sealedKinds))) return count
  }
}

/** Runs a transaction with the lock of the settings, which sealing requires. */
function locked<T>(database: Database, how: 'together' | 'alone', work: (tx: Tx) => Promise<T>): Promise<T> {
  return database.transaction(async tx => {
    await database.engine.lock(tx, 'settings', how)
    return work(tx)
  })
}

/** @param altered receives the texts that cannot be opened */
async function resealAll(database: Database, sealed: Sealed, altered: string[]): Promise<number> {
  let count = 0
  for (let after = 0; ; ) {
    const { rows, failures } = await locked(database, 'together', async tx => {
      const rows = await rowsIn(tx, sealed, leftPrefixes(), after)
      // Created here, because the transaction may be repeated.
      const failures: string[] = []
      for (const row of rows) {
        const about = sealed.about(row)
        try {
          await replace(tx, sealed, row, seal(unseal(row.text, about), about))
        } catch (error) {
          if (!(error instanceof Failure)) throw error
          failures.push(`${sealed.table} ${row.key}: ${error.message}`)
        }
      }
      return { rows, failures }
    })
    if (rows.length === 0) return count
    count += rows.length - failures.length
    altered.push(...failures)
    after = rows.at(-1)!.key
  }
}

/** What is wrong with sealed texts, for `affiliated check`. Those whose key is missing cannot be judged. */
export async function* damagedIn(db: Db, sealed: Sealed): AsyncGenerator<string> {
  for (let after = 0; ; ) {
    const rows = await rowsIn(db, sealed, [], after)
    for (const row of rows) {
      const problem = isKeyMissing(row.text) ? undefined : problemIn(sealed, row)
      if (problem !== undefined) yield `${sealed.table} ${row.key}: ${problem}`
    }
    if (rows.length < ROWS_AT_ONCE) return
    after = rows.at(-1)!.key
  }
}

function problemIn({ about, problem }: Sealed, row: SealedRow): string | undefined {
  try {
    if (problem) return problem(row)
    unseal(row.text, about(row))
    return undefined
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    return error.message
  }
}

async function endWhereNoneIsStale(tx: Tx, sealedKinds: readonly Sealed[]): Promise<boolean> {
  const prefixes = leftPrefixes()
  for (const sealed of sealedKinds) if ((await rowsIn(tx, sealed, prefixes, 0, 1)).length > 0) return false
  endRotation()
  return true
}

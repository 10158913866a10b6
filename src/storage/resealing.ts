/** Key rotation: seals stored texts with a new key. Each folder with sealed data declares it as `Sealed`. */
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

/** Sealed texts of one table. */
export interface Sealed {
  readonly table: string
  /** Names of the keys in use; sealed texts begin with them. */
  keys(db: Db): Promise<readonly { readonly key: string }[]>
  /** Rows after this one whose sealed text begins with none of these prefixes, in order, at most `limit`. */
  rows(db: Db, without: readonly string[], after: number, limit: number): Promise<SealedRow[]>
}

interface SealedRow {
  readonly id: number
  readonly text: string
  /** What the text belongs to. */
  readonly about: string
  /** Puts another text in its place, unless it was replaced meanwhile. */
  replace(tx: Tx, text: string): Promise<void>
}

const ROWS_AT_ONCE = 200
const MOST_NAMED = 10

/** SQL for the key name of a sealed column. @param from position of the name, from 1 */
export const keyNameIn = (column: string, from = 1) =>
  sql<string>`substr(${sql.ref(column)}, ${sql.lit(from)}, ${sql.lit(KEY_NAME_LENGTH)})`.as('key')

/** SQL for whether a sealed column begins with none of these prefixes. */
export const beginsWithNone = (column: string, prefixes: readonly string[]) =>
  sql<boolean>`${sql.join(
    [sql`1 = 1`, ...prefixes.map(prefix => sql`${sql.ref(column)} NOT LIKE ${`${prefix}%`}`)],
    sql` AND `,
  )}`

/**
 * Checked at the start and before a rotation: a new key would otherwise hide the loss of an old one until its first use.
 * @throws Failure secret_key if something is sealed by a missing key
 */
export async function refuseLostKeys({ reader }: Database, sealedKinds: readonly Sealed[]): Promise<void> {
  const names = new Set<string>()
  for (const { keys } of sealedKinds) for (const { key } of await keys(reader)) names.add(key)
  refuseMissingKeys([...names])
}

/**
 * Seals everything with a new key, and drops the old one when nothing is sealed by it, which is checked while nobody
 * seals. What a key has sealed that is given up stays as it is, for the day when the key is found. If interrupted at any
 * point, running it again completes it.
 * @returns the number of texts sealed again
 * @throws Failure secret_key
 */
export async function rotateSecretKey(database: Database, sealedKinds: readonly Sealed[]): Promise<number> {
  // Before a key is put into a file that may be another one, or made where the right one is missing.
  await refuseLostKeys(database, sealedKinds)
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

/** Sealing requires the settings lock. */
function locked<T>(database: Database, how: 'together' | 'alone', work: (tx: Tx) => Promise<T>): Promise<T> {
  return database.transaction(async tx => {
    await database.engine.lock(tx, 'settings', how)
    return work(tx)
  })
}

/** @param altered gets what cannot be opened */
async function resealAll(database: Database, sealed: Sealed, altered: string[]): Promise<number> {
  let count = 0
  for (let after = 0; ; ) {
    const { rows, failures } = await locked(database, 'together', async tx => {
      const rows = await sealed.rows(tx, leftPrefixes(), after, ROWS_AT_ONCE)
      // Of this attempt: the transaction may be repeated.
      const failures: string[] = []
      for (const { id, text, about, replace } of rows) {
        try {
          await replace(tx, seal(unseal(text, about), about))
        } catch (error) {
          if (!(error instanceof Failure)) throw error
          failures.push(`${sealed.table} ${id}: ${error.message}`)
        }
      }
      return { rows, failures }
    })
    if (rows.length === 0) return count
    count += rows.length - failures.length
    altered.push(...failures)
    after = rows.at(-1)!.id
  }
}

/** What is wrong with sealed texts, for a check: those whose key is not here cannot be judged. */
export async function* damagedIn(db: Db, { table, rows }: Sealed): AsyncGenerator<string> {
  for (let after = 0; ; ) {
    const page = await rows(db, [], after, ROWS_AT_ONCE)
    for (const { id, text, about } of page) {
      if (isKeyMissing(text)) continue
      try {
        unseal(text, about)
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        yield `${table} ${id}: ${error.message}`
      }
    }
    if (page.length < ROWS_AT_ONCE) return
    after = page.at(-1)!.id
  }
}

async function endWhereNoneIsStale(tx: Tx, sealedKinds: readonly Sealed[]): Promise<boolean> {
  const prefixes = leftPrefixes()
  for (const sealed of sealedKinds) if ((await sealed.rows(tx, prefixes, 0, 1)).length > 0) return false
  endRotation()
  return true
}

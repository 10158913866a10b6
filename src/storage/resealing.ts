/** Seals what is stored by a new key. Whoever stores something sealed says by `Sealed` where it is. */
import { sql } from 'kysely'
import type { Database, Db, Tx } from './database.ts'
import {
  beginRotation,
  endRotation,
  KEY_NAME_LENGTH,
  refuseMissingKeys,
  sealedPrefix,
} from './secret-keys.ts'

/** What is sealed in one table. */
export interface Sealed {
  /** The names of the keys that have sealed it, which its texts begin with. */
  keys(db: Db): Promise<readonly { readonly key: string }[]>
  /** Those behind this one that are sealed by a key other than the one with this prefix, in order, at most `limit`. */
  stale(tx: Tx, prefix: string, after: number, limit: number): Promise<Stale[]>
}

interface Stale {
  readonly id: number
  /** Seals it by the key that seals now, unless it was replaced meanwhile. @throws Failure secret_key */
  reseal(tx: Tx): Promise<void>
}

const ROWS_AT_ONCE = 200

/** The name of the key by which a column is sealed. @param from where it begins, from 1 */
export const keyNameIn = (column: string, from = 1) =>
  sql<string>`substr(${sql.ref(column)}, ${sql.lit(from)}, ${sql.lit(KEY_NAME_LENGTH)})`.as('key')

/**
 * A new key beside what another one has sealed would hide until its first use that the other one is gone.
 * @throws Failure secret_key when something is sealed by a key that is not there
 */
export async function refuseLostKeys({ reader }: Database, sealedKinds: readonly Sealed[]): Promise<void> {
  const names = new Set<string>()
  for (const { keys } of sealedKinds) for (const { key } of await keys(reader)) names.add(key)
  refuseMissingKeys([...names])
}

/**
 * Seals everything by a new key, and forgets the old one once nothing is sealed by it, which is found out while nobody seals.
 * Killed at any point, it is done to its end by doing it again.
 * @returns how many were sealed anew
 * @throws Failure secret_key
 */
export async function rotateSecretKey(database: Database, sealedKinds: readonly Sealed[]): Promise<number> {
  await locked(database, 'alone', async () => beginRotation())
  let count = 0
  for (;;) {
    for (const sealed of sealedKinds) count += await resealAll(database, sealed)
    if (await locked(database, 'alone', tx => endWhereNoneIsStale(tx, sealedKinds))) return count
  }
}

/** Whoever seals holds the settings. */
function locked<T>(database: Database, how: 'together' | 'alone', work: (tx: Tx) => Promise<T>): Promise<T> {
  return database.transaction(async tx => {
    await database.engine.lock(tx, 'settings', how)
    return work(tx)
  })
}

async function resealAll(database: Database, sealed: Sealed): Promise<number> {
  let count = 0
  for (let after = 0; ; ) {
    const rows = await locked(database, 'together', async tx => {
      const rows = await sealed.stale(tx, sealedPrefix(), after, ROWS_AT_ONCE)
      for (const row of rows) await row.reseal(tx)
      return rows
    })
    if (rows.length === 0) return count
    count += rows.length
    after = rows.at(-1)!.id
  }
}

async function endWhereNoneIsStale(tx: Tx, sealedKinds: readonly Sealed[]): Promise<boolean> {
  const prefix = sealedPrefix()
  for (const sealed of sealedKinds) if ((await sealed.stale(tx, prefix, 0, 1)).length > 0) return false
  endRotation()
  return true
}

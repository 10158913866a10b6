import { type RawBuilder, sql } from 'kysely'
import type { Settings } from '../base/settings.ts'
import type { Db, Engine, Tx } from '../storage/database.ts'
import { lockOf, prepared } from '../storage/prepared.ts'
import { columnsOf, type Schema } from '../storage/table.ts'

export type Values = Map<string, string>

const allSettings = prepared(settings)
const allRateTypes = prepared((db: Db) =>
  db.selectFrom('rate_types').select('name').orderBy('position').orderBy('name'),
)

export async function readSettings(db: Db): Promise<Values> {
  return valuesOf(await allSettings(db, {}))
}

/** Shared lock: prevents changes of the settings until the transaction ends. */
export async function lockSettings(tx: Tx, engine: Engine): Promise<void> {
  await engine.lock(tx, 'settings', 'together')
}

/**
 * What was read under a lock that keeps all others from writing: transactions that share a commit read it once. Undefined
 * where one of them has changed it, which may be rolled back.
 */
const lockedSettings = new WeakMap<object, Settings | undefined>()

/** @param load reads them, unless they were read under the same lock */
export async function readLockedSettings(tx: Tx, load: (tx: Tx) => Promise<Settings>): Promise<Settings> {
  const lock = lockOf(tx)
  const known = lock && lockedSettings.get(lock)
  if (known) return known
  const settings = await load(tx)
  if (lock && !lockedSettings.has(lock)) lockedSettings.set(lock, settings)
  return settings
}

/** Exclusive lock, for a change: waits for shared locks, and blocks new ones. */
export async function lockSettingsAlone(tx: Tx, engine: Engine): Promise<void> {
  const lock = lockOf(tx)
  if (lock) lockedSettings.set(lock, undefined)
  await engine.lock(tx, 'settings', 'alone')
}

function settings(db: Db) {
  return db.selectFrom('settings').select(['name', 'value'])
}

const valuesOf = (rows: { name: string; value: string }[]) => new Map(rows.map(row => [row.name, row.value]))

export async function writeSetting(tx: Tx, name: string, value: string): Promise<void> {
  await tx
    .insertInto('settings')
    .values({ name, value })
    .onConflict(conflict => conflict.column('name').doUpdateSet({ value }))
    .execute()
}

export async function readRateTypes(db: Db): Promise<string[]> {
  return (await allRateTypes(db, {})).map(row => row.name)
}

export async function writeRateTypes(tx: Tx, names: readonly string[]): Promise<void> {
  await tx.deleteFrom('rate_types').where('name', 'not in', names).execute()
  await tx
    .insertInto('rate_types')
    .values(names.map((name, index) => ({ name, position: index + 1 })))
    .onConflict(conflict =>
      conflict.column('name').doUpdateSet(expression => ({ position: expression.ref('excluded.position') })),
    )
    .execute()
}

/** The rate types among `names` that any row refers to, in any table. */
export async function rateTypesInUse(
  { reader, schema }: Source,
  names: readonly string[],
): Promise<string[]> {
  const references = schema.flatMap(table =>
    [...columnsOf(table)]
      .filter(([, { references }]) => references?.table === 'rate_types')
      .map(([column]) => ({ table: table.name, column })),
  )
  const inUse: string[] = []
  for (const name of names) {
    for (const { table, column } of references) {
      if (await anyRow(reader, table, sql`WHERE ${sql.ref(column)} = ${name}`)) inUse.push(name)
    }
  }
  return inUse
}

/** Whether any amounts are stored: rows with an amount that is not derived from other tables. */
export async function anyMoney({ reader, schema }: Source): Promise<boolean> {
  for (const table of schema) {
    const hasMoney = [...columnsOf(table).values()].some(({ money }) => money === true)
    if (hasMoney && (await anyRow(reader, table.name))) return true
  }
  return false
}

/** For queries across tables that this folder does not know. */
export interface Source {
  readonly reader: Db
  readonly schema: Schema
}

async function anyRow(db: Db, table: string, where: RawBuilder<unknown> = sql``): Promise<boolean> {
  const { rows } = await sql`SELECT 1 FROM ${sql.table(table)} ${where} LIMIT 1`.execute(db)
  return rows.length > 0
}

/** Serialises log-in attempts until the transaction ends, so that concurrent ones stay within the limit together. */
export async function waitForTurn(tx: Tx): Promise<void> {
  await tx.selectFrom('settings').select('value').where('name', '=', 'first_login_at').forUpdate().execute()
}

export async function anyLogin(db: Db): Promise<boolean> {
  const row = await db
    .selectFrom('settings')
    .select('value')
    .where('name', '=', 'first_login_at')
    .executeTakeFirstOrThrow()
  return row.value !== ''
}

export async function noteFirstLogin(tx: Tx, time: number): Promise<void> {
  await tx
    .updateTable('settings')
    .set({ value: String(time) })
    .where('name', '=', 'first_login_at')
    .where('value', '=', '')
    .execute()
}

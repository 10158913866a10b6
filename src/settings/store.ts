import type { Db, Tx } from '../storage/database.ts'
import { prepared } from '../storage/prepared.ts'

export type Values = Map<string, string>

const allSettings = prepared(settings)
// Not the row that those who log in wait for one another with.
const heldSettings = prepared((tx: Db) => settings(tx).where('name', '!=', 'first_login_at').forShare())
const allRateTypes = prepared((db: Db) =>
  db.selectFrom('rate_types').select('name').orderBy('position').orderBy('name'),
)

export async function readSettings(db: Db): Promise<Values> {
  return valuesOf(await allSettings(db, {}))
}

/** They stay as they are until the transaction ends. */
export async function holdSettings(tx: Tx): Promise<Values> {
  return valuesOf(await heldSettings(tx, {}))
}

/** Waits for transactions that hold them, and keeps others from it. */
export async function lockSettings(tx: Tx): Promise<Values> {
  return valuesOf(await settings(tx).orderBy('name').forUpdate().execute())
}

function settings(db: Db) {
  return db.selectFrom('settings').select(['name', 'value'])
}

const valuesOf = (rows: { name: string; value: string }[]) => new Map(rows.map(row => [row.name, row.value]))

export async function writeSetting(tx: Tx, name: string, value: string): Promise<void> {
  await tx.updateTable('settings').set({ value }).where('name', '=', name).execute()
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

/** Those of `names` that an affiliate has. */
export async function rateTypesInUse(db: Db, names: readonly string[]): Promise<string[]> {
  const used: string[] = []
  for (const name of names) {
    const row = await db
      .selectFrom('affiliates')
      .select('id')
      .where('rate_type', '=', name)
      .limit(1)
      .executeTakeFirst()
    if (row) used.push(name)
  }
  return used
}

export async function anyPayout(db: Db): Promise<boolean> {
  return (await db.selectFrom('payouts').select('id').limit(1).executeTakeFirst()) !== undefined
}

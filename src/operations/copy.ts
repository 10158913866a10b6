/**
 * Copies a database into an empty one, of the same engine or another. Each batch is a transaction, and begins
 * behind the last row that is there, so a copy that was broken off goes on where it was. A mark in the target tells
 * such a copy from data that somebody uses.
 */
import { createHash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { type Database, DatabaseUnusable, type Db, type Tx } from '../storage/database.ts'
import { COPY_MARK, isCopyUnderWay } from '../storage/open.ts'
import type { Tables, TableWithIdentity } from '../storage/tables.ts'

const ROWS_PER_BATCH = 1000

type Row = Record<string, number | string | null>

interface Table {
  readonly name: keyof Tables
  /** The primary key. */
  readonly key: readonly string[]
}

/** What a table refers to comes before it. */
const tables: readonly Table[] = [
  { name: 'users', key: ['id'] },
  { name: 'affiliates', key: ['id'] },
  { name: 'referrals', key: ['id'] },
  { name: 'payouts', key: ['id'] },
  { name: 'payout_referrals', key: ['referral_id', 'payout_id'] },
  { name: 'ledger_transfers', key: ['id'] },
  { name: 'balances', key: ['affiliate_id', 'account'] },
  { name: 'api_keys', key: ['id'] },
  { name: 'sessions', key: ['token_hash'] },
  { name: 'devices', key: ['token_hash'] },
  { name: 'audit_entries', key: ['id'] },
  { name: 'audit_seals', key: ['number'] },
  { name: 'idempotency_keys', key: ['owner', 'key'] },
]
/** Failed log-ins of the last minutes are not worth the way. */
export const leftOut: readonly (keyof Tables)[] = ['login_attempts']
/** Small, and filled in every new database. */
const configuration: readonly Table[] = [
  { name: 'rate_types', key: ['name'] },
  { name: 'settings', key: ['name'] },
  { name: 'audit_chain', key: ['id'] },
]

/** The log comes last: what else was changed is what somebody wants to hear of. */
const checked = [...configuration, ...tables].sort((a, b) => Number(isLog(a)) - Number(isLog(b)))

function isLog({ name }: Table): boolean {
  return name.startsWith('audit_')
}

/** Every table that is copied. */
export const copiedTables: readonly (keyof Tables)[] = [...configuration, ...tables].map(({ name }) => name)

function hasIdentity(name: keyof Tables): name is TableWithIdentity {
  return tables.some(table => table.name === name && table.key[0] === 'id')
}

export interface CopiedTable {
  readonly table: string
  readonly rows: number
  /** SHA-256 of every row in order of its key, the same in source and target. */
  readonly checksum: string
}

/**
 * @param progress is told how many rows of a table are done, of how many
 * @throws DatabaseUnusable when the target has data, or the source was changed meanwhile
 */
export async function copyDatabase(
  source: Database,
  target: Database,
  progress: (step: string, done: number, total: number) => void,
): Promise<CopiedTable[]> {
  if (await isCopyUnderWay(target.reader)) await target.transaction(tx => copyConfiguration(source, tx))
  else await begin(source, target)
  for (const table of tables) await copyTable(source, target, table, progress)
  await copyChain(source, target)
  const copied: CopiedTable[] = []
  for (const table of checked) {
    const total = await countRows(source.reader, table.name)
    const [expected, actual] = await Promise.all([
      summarise(source.reader, table, done => progress(`checking ${table.name}`, done, total)),
      summarise(target.reader, table, () => {}),
    ])
    if (expected.checksum !== actual.checksum) {
      await refuseOtherLog(source.reader, target.reader)
      await target.transaction(clear)
      throw new DatabaseUnusable(
        `The table ${table.name} was changed while it was copied; what was copied is removed. Stop the service, and copy again.`,
      )
    }
    copied.push({ table: table.name, ...actual })
  }
  await finish(source, target)
  return copied
}

async function begin(source: Database, target: Database): Promise<void> {
  await target.transaction(async tx => {
    for (const { name } of tables) {
      const row = await tx
        .selectFrom(name as 'users')
        .selectAll()
        .limit(1)
        .executeTakeFirst()
      if (row || (hasIdentity(name) && (await target.engine.lastIdentity(tx, name)) > 0)) {
        throw new DatabaseUnusable(`The target has or had data (${name}). Copy into a database that is new.`)
      }
    }
    await copyConfiguration(source, tx)
  })
}

/** It may be other than when a copy that goes on was begun, and sets the mark. */
async function copyConfiguration({ reader }: Database, tx: Tx): Promise<void> {
  const settings: Row[] = await reader.selectFrom('settings').selectAll().execute()
  await tx.deleteFrom('settings').execute()
  await insert(tx, 'settings', [...settings, { name: COPY_MARK, value: '1' }])
  const rateTypes = await reader.selectFrom('rate_types').selectAll().execute()
  await tx
    .insertInto('rate_types')
    .values(rateTypes)
    .onConflict(conflict =>
      conflict.column('name').doUpdateSet(({ ref }) => ({ position: ref('excluded.position') })),
    )
    .execute()
  // Affiliates that were copied before may have one that is no longer there; the comparison will tell.
  await tx
    .deleteFrom('rate_types')
    .where(
      'name',
      'not in',
      rateTypes.map(({ name }) => name),
    )
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('affiliates').select('id').whereRef('rate_type', '=', 'rate_types.name'))),
    )
    .execute()
}

async function copyTable(
  source: Database,
  target: Database,
  table: Table,
  progress: (step: string, done: number, total: number) => void,
): Promise<void> {
  const total = await countRows(source.reader, table.name)
  let done = await countRows(target.reader, table.name)
  let last = await lastRow(target.reader, table)
  for (;;) {
    const rows = await after(source.reader, table, last)
    if (rows.length === 0) return
    await target.transaction(tx => insert(tx, table.name, rows))
    last = rows.at(-1)
    done += rows.length
    progress(`copying ${table.name}`, Math.min(done, total), total)
  }
}

/** It changes as the log grows, so a copy that goes on takes it anew. */
async function copyChain(source: Database, target: Database): Promise<void> {
  const chain = await source.reader.selectFrom('audit_chain').selectAll().execute()
  await target.transaction(async tx => {
    await tx.deleteFrom('audit_chain').execute()
    await tx.insertInto('audit_chain').values(chain).execute()
  })
}

async function finish(source: Database, target: Database): Promise<void> {
  await target.transaction(async tx => {
    for (const { name } of tables) {
      if (!hasIdentity(name)) continue
      await target.engine.continueIdentity(tx, name, await source.engine.lastIdentity(source.reader, name))
    }
    await tx.deleteFrom('settings').where('name', '=', COPY_MARK).execute()
  })
}

/**
 * What is copied of the log can't be taken back, and is right as long as the log is only added to. It is not where somebody
 * was erased since, or where an entry was committed late.
 * @throws DatabaseUnusable
 */
async function refuseOtherLog(source: Db, target: Db): Promise<void> {
  for (const table of tables.filter(isLog)) {
    if (await isBeginning(source, target, table)) continue
    throw new DatabaseUnusable(
      `What was copied of ${table.name} is no longer what the source has, as when a person was erased meanwhile. This target can't be completed: remove it, and copy into a new, empty one.`,
    )
  }
}

/** Whether the table of the source begins with the rows that the target has. */
async function isBeginning(source: Db, target: Db, table: Table): Promise<boolean> {
  for (let last: Row | undefined; ; ) {
    const rows = await after(target, table, last)
    if (rows.length === 0) return true
    const expected = (await after(source, table, last)).slice(0, rows.length)
    if (expected.map(textOf).join() !== rows.map(textOf).join()) return false
    last = rows.at(-1)
  }
}

/** The mark stays: what comes next is a copy again. The audit log stays, too: the database lets nobody remove it. */
async function clear(tx: Tx): Promise<void> {
  for (const table of tables.toReversed()) {
    if (!isLog(table)) await tx.deleteFrom(table.name).execute()
  }
}

async function summarise(
  db: Db,
  table: Table,
  progress: (done: number) => void,
): Promise<{ rows: number; checksum: string }> {
  const hash = createHash('sha256')
  let count = 0
  let last: Row | undefined
  for (;;) {
    const rows = await after(db, table, last)
    if (rows.length === 0) return { rows: count, checksum: hash.digest('hex') }
    for (const row of rows) {
      if (row.name === COPY_MARK) continue
      hash.update(textOf(row))
      count += 1
    }
    last = rows.at(-1)
    progress(count)
  }
}

/** The same on every engine. */
function textOf(row: Row): string {
  const columns = Object.keys(row).sort()
  return JSON.stringify(columns.map(column => row[column]))
}

/** The next rows in order of the key. */
async function after(db: Db, { name, key }: Table, last: Row | undefined): Promise<Row[]> {
  const columns = sql.join(key.map(column => sql.ref(column)))
  const beyond =
    last === undefined ? sql`` : sql`WHERE (${columns}) > (${sql.join(key.map(column => last[column]))})`
  return rowsOf(
    db,
    sql`SELECT * FROM ${sql.table(name)} ${beyond} ORDER BY ${columns} LIMIT ${ROWS_PER_BATCH}`,
  )
}

async function lastRow(db: Db, { name, key }: Table): Promise<Row | undefined> {
  const order = sql.join(key.map(column => sql`${sql.ref(column)} DESC`))
  const [row] = await rowsOf(db, sql`SELECT * FROM ${sql.table(name)} ORDER BY ${order} LIMIT 1`)
  return row
}

async function rowsOf(db: Db, query: RawBuilder<unknown>): Promise<Row[]> {
  return (await query.execute(db)).rows as Row[]
}

async function countRows(db: Db, name: keyof Tables): Promise<number> {
  const [row] = await rowsOf(db, sql`SELECT count(*) AS count FROM ${sql.table(name)}`)
  return row!.count as number
}

async function insert(tx: Tx, name: keyof Tables, rows: Row[]): Promise<void> {
  await tx
    .insertInto(name)
    .values(rows as never)
    .execute()
}

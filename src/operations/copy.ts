/**
 * Copies a database into an empty one, of the same engine or another. Each batch is a transaction, and continues
 * after the last row in the target, so a copy that was interrupted can go on. A mark in the target tells
 * such a copy from data in use.
 */
import { createHash } from 'node:crypto'
import { type RawBuilder, sql } from 'kysely'
import { sealAll } from '../events/seal.ts'
import { forgetMissing } from '../events/store.ts'
import { type Database, DatabaseUnusable, type Db, type Tx, within } from '../storage/database.ts'
import { insertMany } from '../storage/insert-many.ts'
import { isCopyUnderWay, markCopy } from '../storage/open.ts'
import { countRows } from '../storage/page.ts'
import { columnsOf, identity, type Schema, type Table } from '../storage/table.ts'

const ROWS_PER_BATCH = 1000

type Row = Record<string, number | string | null>

const byRows = (schema: Schema) => schema.filter(({ copied }) => copied === 'rows')

/** Small tables that every new database has filled: they are replaced. */
const asWholes = (schema: Schema) => schema.filter(({ copied }) => copied === 'whole')

/** Append-only tables are compared last: a change in another table is the more helpful message. */
const comparisonOrder = (schema: Schema) =>
  [...asWholes(schema), ...byRows(schema)].sort(
    (a, b) => Number(a.appendOnly ?? false) - Number(b.appendOnly ?? false),
  )

/** Whether the database assigns the identifiers. */
const hasIdentity = ({ key, columns }: Table) => key[0] === 'id' && columns.id === identity

export interface CopiedTable {
  readonly table: string
  readonly rows: number
  /** SHA-256 of every row in order of its key, the same in source and target. */
  readonly checksum: string
}

/**
 * @param progress called with the number of rows of a table that are done, and of all
 * @throws DatabaseUnusable when the target has data, or the source has changed meanwhile
 */
export async function copyDatabase(
  source: Database,
  target: Database,
  progress: (step: string, done: number, total: number) => void,
): Promise<CopiedTable[]> {
  const { schema } = source
  if (!(await isCopyUnderWay(target.reader))) await begin(target, schema)
  for (const table of asWholes(schema)) await replaceTable(source, target, table)
  for (const table of byRows(schema)) await copyTable(source, target, table, progress)
  // Tables that changed while rows were copied, such as the end of the log's chain.
  for (const table of asWholes(schema)) await replaceTable(source, target, table)
  const copied: CopiedTable[] = []
  for (const table of comparisonOrder(schema)) {
    const total = await countRows(source.reader, table)
    const [expected, actual] = await Promise.all([
      summarise(source.reader, table, done => progress(`checking ${table.name}`, done, total)),
      summarise(target.reader, table, () => {}),
    ])
    if (expected.checksum !== actual.checksum) {
      await refuseOtherLog(source.reader, target.reader, schema)
      await target.transaction(tx => clear(tx, schema))
      throw new DatabaseUnusable(
        `The table ${table.name} was changed while it was copied; what was copied is removed. Stop the service, and copy again.`,
      )
    }
    copied.push({ table: table.name, ...actual })
  }
  await finish(source, target)
  return copied
}

async function begin(target: Database, schema: Schema): Promise<void> {
  await target.transaction(async tx => {
    for (const table of byRows(schema)) {
      const [row] = await rowsOf(tx, sql`SELECT 1 AS one FROM ${sql.table(table.name)} LIMIT 1`)
      if (row || (hasIdentity(table) && (await target.engine.lastIdentity(tx, table.name)) > 0)) {
        throw new DatabaseUnusable(
          `The target has or had data (${table.name}). Copy into a database that is new.`,
        )
      }
    }
    await markCopy(tx, true)
  })
}

/**
 * Replaces a small table. Rows of a continued copy may refer to rows that the source no longer has: those stay, and
 * the comparison finds them.
 */
async function replaceTable({ reader, schema }: Database, target: Database, table: Table): Promise<void> {
  const rows = await after(reader, table, undefined)
  const key = sql.join(table.key.map(column => sql.ref(column)))
  const otherColumns = Object.keys(rows[0] ?? {}).filter(column => !table.key.includes(column))
  const references = schema.flatMap(referringTable =>
    [...columnsOf(referringTable)]
      .filter(([, column]) => column.references?.table === table.name)
      .map(([name, column]) => ({
        table: referringTable.name,
        column: name,
        to: column.references!.column ?? 'id',
      })),
  )
  await target.transaction(async tx => {
    const isUnreferenced = references.map(
      ({ table: other, column, to }) =>
        sql`NOT EXISTS (SELECT 1 FROM ${sql.table(other)} WHERE ${sql.ref(`${other}.${column}`)} = ${sql.ref(`${table.name}.${to}`)})`,
    )
    const keys = rows.map(row => sql`(${sql.join(table.key.map(column => row[column]))})`)
    const isMissing = keys.length === 0 ? [] : [sql`(${key}) NOT IN (${sql.join(keys)})`]
    const where = [...isMissing, ...isUnreferenced]
    await sql`DELETE FROM ${sql.table(table.name)} ${where.length === 0 ? sql`` : sql`WHERE ${sql.join(where, sql` AND `)}`}`.execute(
      tx,
    )
    for (const row of rows) {
      const columns = Object.keys(row)
      await sql`INSERT INTO ${sql.table(table.name)} (${sql.join(columns.map(name => sql.ref(name)))})
        VALUES (${sql.join(columns.map(name => row[name]))})
        ON CONFLICT (${key}) DO UPDATE SET ${sql.join(otherColumns.map(name => sql`${sql.ref(name)} = ${row[name]}`))}`.execute(
        tx,
      )
    }
  })
}

async function copyTable(
  source: Database,
  target: Database,
  table: Table,
  progress: (step: string, done: number, total: number) => void,
): Promise<void> {
  const total = await countRows(source.reader, table)
  let copied = await countRows(target.reader, table)
  let last = await lastRow(target.reader, table)
  for (;;) {
    const rows = await after(source.reader, table, last)
    if (rows.length === 0) return
    await target.transaction(tx => insertMany(tx, { table: table.name }, rows))
    last = rows.at(-1)
    copied += rows.length
    progress(`copying ${table.name}`, Math.min(copied, total), total)
  }
}

async function finish(source: Database, target: Database): Promise<void> {
  await target.transaction(async tx => {
    for (const { name } of source.schema.filter(hasIdentity)) {
      await target.engine.continueIdentity(tx, name, await source.engine.lastIdentity(source.reader, name))
    }
    await markCopy(tx, false)
    // What was committed late, and nobody has sealed since: the source may have been killed before.
    await sealAll(within(target, tx))
    // Identifiers that were passed over in the source are given up: none of its transactions can commit them here.
    await forgetMissing(tx)
  })
}

/**
 * Copied parts of the log cannot be removed, and stay right as long as the log only grows. They do not when somebody
 * was erased since, or an event was committed late.
 * @throws DatabaseUnusable
 */
async function refuseOtherLog(source: Db, target: Db, schema: Schema): Promise<void> {
  for (const table of byRows(schema).filter(({ appendOnly }) => appendOnly)) {
    if (await isBeginning(source, target, table)) continue
    throw new DatabaseUnusable(
      `What was copied of ${table.name} is no longer what the source has, as when a person was erased meanwhile. This target cannot be completed: remove it, and copy into a new, empty one.`,
    )
  }
}

/** Whether the table of the source begins with the rows of the target. */
async function isBeginning(source: Db, target: Db, table: Table): Promise<boolean> {
  for (let last: Row | undefined; ; ) {
    const rows = await after(target, table, last)
    if (rows.length === 0) return true
    const expected = (await after(source, table, last)).slice(0, rows.length)
    if (expected.map(textOf).join() !== rows.map(textOf).join()) return false
    last = rows.at(-1)
  }
}

/**
 * Removes copied rows, but for the mark, since the next use is a copy again, and append-only tables, which the database
 * protects.
 */
async function clear(tx: Tx, schema: Schema): Promise<void> {
  for (const { name, appendOnly } of byRows(schema).toReversed()) {
    if (!appendOnly) await sql`DELETE FROM ${sql.table(name)}`.execute(tx)
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
      hash.update(textOf(row))
      count += 1
    }
    last = rows.at(-1)
    progress(count)
  }
}

/** The same text on every engine. */
function textOf(row: Row): string {
  const columns = Object.keys(row).sort()
  return JSON.stringify(columns.map(column => row[column]))
}

/** The next rows in order of the key. */
async function after(db: Db, { name, key }: Table, last: Row | undefined): Promise<Row[]> {
  const columns = sql.join(key.map(column => sql.ref(column)))
  const condition =
    last === undefined ? sql`` : sql`WHERE (${columns}) > (${sql.join(key.map(column => last[column]))})`
  return rowsOf(
    db,
    sql`SELECT * FROM ${sql.table(name)} ${condition} ORDER BY ${columns} LIMIT ${ROWS_PER_BATCH}`,
  )
}

async function lastRow(db: Db, { name, key }: Table): Promise<Row | undefined> {
  const order = sql.join(key.map(column => sql`${sql.ref(column)} DESC`))
  const [row] = await rowsOf(db, sql<Row>`SELECT * FROM ${sql.table(name)} ORDER BY ${order} LIMIT 1`)
  return row
}

async function rowsOf(db: Db, query: RawBuilder<Row>): Promise<Row[]> {
  return (await query.execute(db)).rows
}

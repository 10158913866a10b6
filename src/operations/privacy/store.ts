/** Queries for everything about one person, in every table by its declaration. See docs/decisions/erasure.md. */
import { type RawBuilder, sql } from 'kysely'
import { recordsOfPerson } from '../../events/store.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { columnsOf, type Schema, type Table } from '../../storage/table.ts'

const ROWS_AT_ONCE = 1000

/**
 * The rows that stand for a person, by table: the account, and rows that refer to it and are referred to as a person.
 */
export type Person = ReadonlyMap<string, readonly number[]>

/** @param account the table of accounts */
export async function personOf(db: Db, schema: Schema, account: Table, id: number): Promise<Person> {
  const person = new Map([[account.name, [id]]])
  for (const table of schema.filter(table => table !== account && standsForPeople(table, schema))) {
    const about = aboutPerson(table, person)
    if (!about) continue
    const { rows } = await sql<{
      id: number
    }>`SELECT id FROM ${sql.table(table.name)} WHERE ${about}`.execute(db)
    // Rows may refer to deleted rows, which the log names.
    const deletedIds = table.logged ? await recordsOfPerson(db, table.logged.kind, id) : []
    const ids = new Set([...rows.map(row => row.id), ...deletedIds])
    person.set(
      table.name,
      [...ids].sort((a, b) => a - b),
    )
  }
  return person
}

const standsForPeople = ({ name }: Table, schema: Schema) =>
  schema.some(table =>
    [...columnsOf(table).values()].some(({ references }) => references?.person && references.table === name),
  )

/** The condition for rows of a table about a person; undefined where none can be. */
function aboutPerson(table: Table, person: Person): RawBuilder<unknown> | undefined {
  const own = person.get(table.name)
  if (own) return among('id', own)
  for (const [name, { references }] of columnsOf(table)) {
    const ids = references?.person ? person.get(references.table) : undefined
    if (ids) return among(name, ids)
  }
  return undefined
}

function among(column: string, ids: readonly number[]): RawBuilder<unknown> {
  return ids.length === 0 ? sql`1 = 0` : sql`${sql.ref(column)} IN (${sql.join(ids)})`
}

/** The rows about a person in order of their key, without secrets. @param page of a table whose key is its identifier */
export async function rowsAbout<R>(
  db: Db,
  table: Table,
  person: Person,
  page?: { readonly after: number; readonly limit: number },
): Promise<R[]> {
  const about = aboutPerson(table, person)
  if (!about) return []
  const columns = [...columnsOf(table)].filter(([, { secret }]) => !secret).map(([name]) => sql.ref(name))
  const order = sql.join(table.key.map(name => sql.ref(name)))
  const behind = page ? sql`AND id > ${page.after}` : sql``
  const limit = page ? sql`LIMIT ${page.limit}` : sql``
  const { rows } = await sql<R>`
    SELECT ${sql.join(columns)} FROM ${sql.table(table.name)} WHERE ${about} ${behind} ORDER BY ${order} ${limit}`.execute(
    db,
  )
  return rows
}

/** The same of a kind of record, page by page. */
export async function* pagesAbout<R extends { readonly id: number }>(
  db: Db,
  table: Table,
  person: Person,
): AsyncGenerator<R[]> {
  for (let last = 0; ; ) {
    const rows = await rowsAbout<R>(db, table, person, { after: last, limit: ROWS_AT_ONCE })
    yield rows
    if (rows.length < ROWS_AT_ONCE) return
    last = rows.at(-1)!.id
  }
}

/** Removes the rows about a person. */
export async function removeAbout(tx: Tx, table: Table, person: Person): Promise<void> {
  const about = aboutPerson(table, person)
  if (about) await sql`DELETE FROM ${sql.table(table.name)} WHERE ${about}`.execute(tx)
}

/** Empties personal columns in the rows about a person. @returns whether there was anything to empty */
export async function eraseAbout(tx: Tx, table: Table, person: Person, time: number): Promise<boolean> {
  const about = aboutPerson(table, person)
  const names = [...columnsOf(table)].filter(([, { personal }]) => personal === 'erase')
  if (!about || names.length === 0) return false
  const erasures = names.map(([name, column]) => sql`${sql.ref(name)} = ${column.nullable ? null : ''}`)
  const touch = 'updated_at' in table.columns ? [sql`updated_at = ${time}`] : []
  const isFilled = names.map(([name, column]) =>
    column.nullable ? sql`${sql.ref(name)} IS NOT NULL` : sql`${sql.ref(name)} <> ''`,
  )
  const filled = sql`${about} AND (${sql.join(isFilled, sql` OR `)})`
  const { rows } = await sql`SELECT 1 FROM ${sql.table(table.name)} WHERE ${filled} LIMIT 1`.execute(tx)
  if (rows.length === 0) return false
  await sql`UPDATE ${sql.table(table.name)} SET ${sql.join([...erasures, ...touch])} WHERE ${filled}`.execute(
    tx,
  )
  return true
}

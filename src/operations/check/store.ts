/** Queries that look for what can't be, in every table by what is declared of it. */
import { sql } from 'kysely'
import type { Entry } from '../../events/store.ts'
import type { Database, Db, Tx } from '../../storage/database.ts'
import { columnsOf, type Schema, type Table } from '../../storage/table.ts'

export async function damages({ engine, reader }: Database): Promise<string[]> {
  return engine.damages(reader)
}

/** Of each table that is only added to, what the database does not refuse. */
export async function missingRefusals({ engine, reader, schema }: Database): Promise<[string, string][]> {
  const { rows } = await sql<{ name: string }>`${sql.raw(engine.triggers)}`.execute(reader)
  const names = new Set(rows.map(({ name }) => name))
  return schema
    .filter(({ appendOnly }) => appendOnly)
    .flatMap(({ name }) => engine.refused.map((action): [string, string] => [name, action]))
    .filter(([table, action]) => !names.has(`${table}_${action}`))
}

/** By name, each table, index and trigger as it was written, or null. */
export async function objectsOf({ engine, reader }: Database): Promise<Map<string, string | null>> {
  const { rows } = await sql<{ name: string; definition: string | null }>`${sql.raw(engine.objects)}`.execute(
    reader,
  )
  return new Map(rows.map(({ name, definition }) => [name, definition]))
}

/** The identifiers of the events that transfers name and that are not there. */
export async function missingEvents(db: Db, limit: number): Promise<number[]> {
  const { rows } = await sql<{ event_id: number }>`
    SELECT DISTINCT event_id FROM ledger_transfers WHERE event_id IS NOT NULL
      AND NOT EXISTS (SELECT 1 FROM events WHERE events.id = ledger_transfers.event_id) ORDER BY event_id LIMIT ${limit}`.execute(
    db,
  )
  return rows.map(row => row.event_id)
}

/** Of each column that refers to rows of another table, how many refer to one that does not exist. */
export async function orphans(db: Db, schema: Schema): Promise<{ column: string; count: number }[]> {
  const found: { column: string; count: number }[] = []
  for (const table of schema) {
    for (const [name, { references }] of columnsOf(table)) {
      if (!references || references.outlives) continue
      const from = sql.ref(`${table.name}.${name}`)
      const to = sql.ref(`${references.table}.${references.column ?? 'id'}`)
      const { rows } = await sql<{ count: number }>`
        SELECT count(*) AS count FROM ${sql.table(table.name)} WHERE ${from} IS NOT NULL
          AND NOT EXISTS (SELECT 1 FROM ${sql.table(references.table)} WHERE ${to} = ${from})`.execute(db)
      if (rows[0]!.count > 0) found.push({ column: `${table.name}.${name}`, count: rows[0]!.count })
    }
  }
  return found
}

/** The lowest identifier of which the log says that it was made; records below may be older than the log, or the demo's. */
export async function firstCreated(db: Db, kind: string): Promise<number> {
  const { first } = await db
    .selectFrom('events')
    .select(({ fn }) => fn.min('record_id').as('first'))
    .where('record_kind', '=', kind)
    .where('action', '=', `${kind}.create`)
    .executeTakeFirstOrThrow()
  return first ?? Number.MAX_SAFE_INTEGER
}

/** Whether the log tells of the account, beside entries of its own. */
export async function isSpokenOf(db: Db, userId: number): Promise<boolean> {
  const rows = await db.selectFrom('events').select('id').where('person_id', '=', userId).limit(1).execute()
  return rows.length > 0
}

/** The next records that the log speaks of. */
export async function recordsInLog(db: Db, kind: string, after: number, limit: number): Promise<number[]> {
  const rows = await db
    .selectFrom('events')
    .select('record_id')
    .distinct()
    .where('record_kind', '=', kind)
    .where('record_id', '>', after)
    .orderBy('record_id')
    .limit(limit)
    .execute()
  return rows.map(({ record_id }) => record_id!)
}

const ENTRIES_AT_ONCE = 1000

/** What the log says of the records from one to another, in its order. */
export async function* entriesOf(db: Db, kind: string, first: number, last: number): AsyncGenerator<Entry> {
  for (let [record, id] = [first, 0]; ; ) {
    const rows = await db
      .selectFrom('events')
      .selectAll()
      .where('record_kind', '=', kind)
      .where('record_id', '<=', last)
      .where(sql<boolean>`(record_id, id) > (${record}, ${id})`)
      .orderBy('record_id')
      .orderBy('id')
      .limit(ENTRIES_AT_ONCE)
      .execute()
    yield* rows
    if (rows.length < ENTRIES_AT_ONCE) return
    ;[record, id] = [rows.at(-1)!.record_id!, rows.at(-1)!.id]
  }
}

/** Whether the log is empty though there is what could not be there without an entry. */
export async function isLogEmptied({ reader, engine }: Database): Promise<boolean> {
  const any = (table: 'events' | 'api_keys') => reader.selectFrom(table).select('id').limit(1).execute()
  if ((await any('events')).length > 0) return false
  return (await engine.lastIdentity(reader, 'events')) > 0 || (await any('api_keys')).length > 0
}

/** Accounts of which the log says that they were erased, and which can do or tell something nevertheless. */
export async function unerased(db: Db): Promise<number[]> {
  const rows = await db
    .selectFrom('users')
    .innerJoin('events', 'events.record_id', 'users.id')
    .select('users.id')
    .distinct()
    .where('events.record_kind', '=', 'user')
    .where('events.action', '=', 'user.erase')
    .where(({ or, eb }) =>
      or([
        eb('password_hash', '<>', ''),
        eb('role', '<>', ''),
        eb('first_name', '<>', ''),
        eb('last_name', '<>', ''),
      ]),
    )
    .orderBy('users.id')
    .execute()
  return rows.map(({ id }) => id)
}

/** Sets the folded text of a row anew. */
export async function writeKeys(
  tx: Tx,
  { name }: Table,
  id: number,
  keys: Record<string, string>,
): Promise<void> {
  const set = Object.entries(keys).map(([column, key]) => sql`${sql.ref(column)} = ${key}`)
  await sql`UPDATE ${sql.table(name)} SET ${sql.join(set)} WHERE id = ${id}`.execute(tx)
}

/** The next rows by identifier. */
export async function rowsAfter(
  db: Db,
  { name }: Table,
  after: number,
  limit: number,
): Promise<({ id: number } & Record<string, unknown>)[]> {
  const { rows } = await sql<{ id: number } & Record<string, unknown>>`
    SELECT * FROM ${sql.table(name)} WHERE id > ${after} ORDER BY id LIMIT ${limit}`.execute(db)
  return rows
}

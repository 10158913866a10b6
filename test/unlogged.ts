/**
 * Whoever changes a record logs it: on SQLite, each transaction of a service under test is looked at through a changeset
 * of the tables that keep records, and refused when there is one without an event. So is one whose events say something
 * of a person without naming them, since it would not be erased with them.
 */
import { randomUUID } from 'node:crypto'
import { DatabaseSync, type SQLOutputValue } from 'node:sqlite'
import { sql } from 'kysely'
import { schema } from '../src/app.ts'
import type { Database } from '../src/storage/database.ts'

/** Tables that keep records, and columns of theirs that the service keeps for itself. */
const SILENT: Readonly<Record<string, readonly string[]>> = {
  api_keys: ['last_used_at'],
  // The log tells of visits by this figure alone, and not of each.
  affiliates: ['visits'],
  links: ['visits'],
}
const RECORDS = Object.fromEntries(
  schema.flatMap(({ name, logged }) => (logged?.public ? [[name, SILENT[name] ?? []]] : [])),
)

/** Kinds of record that are about a person, and have words about them, but not their account. */
const ABOUT_SOMEBODY = schema.flatMap(({ columns, logged }) => {
  const isAboutSomebody = Object.values(columns).some(({ references }) => references?.person)
  return logged && isAboutSomebody && logged.personal.length > 0 && !logged.person ? [logged.kind] : []
})

const connections = new Set<DatabaseSync>()
const { exec } = DatabaseSync.prototype
DatabaseSync.prototype.exec = function (this: DatabaseSync, text: string) {
  connections.add(this)
  return exec.call(this, text)
}

/** The same database, whose transactions fail when they change a record and log nothing, or nobody whom it is about. */
export async function refusingUnlogged(database: Database): Promise<Database> {
  if (database.engine.name !== 'SQLite') return database
  const connection = await connectionOf(database)
  const refusing = (inner: Database): Database => ({
    engine: inner.engine,
    schema: inner.schema,
    reader: inner.reader,
    replica: inner.replica,
    background: budget => refusing(inner.background(budget)),
    snapshot: work => inner.snapshot(work),
    transaction: (work, options) => inner.transaction(tx => watched(connection, () => work(tx)), options),
    ...(inner.version && { version: inner.version }),
    ...(inner.refresh && { refresh: inner.refresh }),
    ready: () => inner.ready(),
    close: () => inner.close(),
  })
  return refusing(database)
}

/** The connection that a database writes by: the one that sees its temporary table. */
async function connectionOf(database: Database): Promise<DatabaseSync> {
  const name = `watched_${randomUUID()}`
  await database.transaction(tx => sql`CREATE TEMP TABLE ${sql.table(name)} (one)`.execute(tx))
  const sees = (connection: DatabaseSync) =>
    connection.isOpen &&
    connection.prepare('SELECT 1 FROM sqlite_temp_master WHERE name = ?').get(name) !== undefined
  return [...connections].find(sees)!
}

async function watched<T>(connection: DatabaseSync, work: () => Promise<T>): Promise<T> {
  const tables = ['events', ...Object.keys(RECORDS)]
  const sessions = new Map(tables.map(table => [table, connection.createSession({ table })]))
  const last = lastEvent(connection)
  try {
    const result = await work()
    refuseOfNobody(connection, last)
    const changed = (table: string) => changesIn(sessions.get(table)!.changeset())
    if (changed('events').size === 0) {
      for (const [table, columns] of Object.entries(RECORDS)) {
        const own = columns.map(column => columnNumber(connection, table, column))
        if ([...changed(table)].some(column => !own.includes(column)))
          throw new Error(`A transaction has changed ${table} and logged nothing.`)
      }
    }
    return result
  } finally {
    for (const session of sessions.values()) session.close()
  }
}

const lastEvent = (connection: DatabaseSync) =>
  connection.prepare('SELECT coalesce(max(id), 0) AS id FROM events').get()!.id!

function refuseOfNobody(connection: DatabaseSync, last: SQLOutputValue): void {
  const ofNobody = connection.prepare(`SELECT action FROM events
    WHERE id > ? AND personal <> '' AND person_id IS NULL AND record_kind IN (SELECT value FROM json_each(?))`)
  const event = ofNobody.get(last, JSON.stringify(ABOUT_SOMEBODY))
  if (event) throw new Error(`An event ${event.action} has words about a person, and names none.`)
}

function columnNumber(connection: DatabaseSync, table: string, column: string): number {
  const columns = connection.prepare(`SELECT name FROM pragma_table_info('${table}')`).all()
  return columns.findIndex(({ name }) => name === column)
}

const UPDATE = 0x17
const NUMBER = [1, 2]
const BYTES = [3, 4]

/**
 * The columns that a changeset of one table changes; -1 is a whole row, which was added or removed.
 * See https://sqlite.org/session/c_changeset_format.html, and the comment at the beginning of sqlite3session.c.
 */
function changesIn(changeset: Uint8Array): Set<number> {
  const changes = new Set<number>()
  if (changeset.length === 0) return changes
  const columns = changeset[1]!
  let at = changeset.indexOf(0, 2 + columns) + 1
  const length = () => {
    let value = 0
    for (;;) {
      const byte = changeset[at++]!
      value = value * 128 + (byte & 127)
      if (byte < 128) return value
    }
  }
  const values = () =>
    Array.from({ length: columns }, () => {
      const type = changeset[at++]!
      if (NUMBER.includes(type)) at += 8
      if (BYTES.includes(type)) {
        const bytes = length()
        at += bytes
      }
      return type
    })
  while (at < changeset.length) {
    const isUpdate = changeset[at] === UPDATE
    at += 2
    values()
    if (!isUpdate) changes.add(-1)
    else for (const [column, type] of values().entries()) if (type !== 0) changes.add(column)
  }
  return changes
}

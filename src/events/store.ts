/** Queries on the audit log. */
import {
  type Expression,
  type ExpressionBuilder,
  type Insertable,
  type Selectable,
  type SelectQueryBuilder,
  type SqlBool,
  sql,
} from 'kysely'
import type { Actor } from '../base/actor.ts'
import type { Db, Engine, Tx } from '../storage/database.ts'
import { insertManyUnawaited } from '../storage/insert-many.ts'
import { countOf, type Order, type Page, PagedList } from '../storage/page.ts'
import { prepared } from '../storage/prepared.ts'
import type { Logged } from '../storage/table.ts'
import type { Tables } from '../storage/tables.ts'
import type { Range } from './ranges.ts'
import { creatingActions } from './schema.ts'
import type { AuditChainTable, AuditSealsTable, EventsTable } from './table.ts'

export type Entry = Selectable<EventsTable>
export type NewEntry = Insertable<EventsTable>
export type Seal = Selectable<AuditSealsTable>
export type Chain = Selectable<AuditChainTable>

/** An entry with the current login of the account that acted. */
export type EntryRow = Entry & { login: string | null }

/** Up to this number, single inserts by a prepared statement are faster than one long statement. */
const ENTRIES_PREPARED = 4

/** List filters in stored form. Several values of one filter mean any of them. */
export interface Criteria {
  actorKinds?: readonly Actor['kind'][]
  actorIds?: readonly number[]
  actorName?: string
  actions?: readonly string[]
  recordKinds?: readonly string[]
  /** Excluded kinds. */
  otherKinds?: readonly string[]
  recordIds?: readonly number[]
  /** Milliseconds since 1970, inclusive. */
  at?: { first?: number; last?: number }
}

const id = sql.ref('events.id')
const byId: Order = { expression: id, kind: 'number', value: (row: Entry) => row.id }

/** Orders by the API's names. Entries are in order of time, except within moments. */
export const orders: Record<string, Order> = {
  id: byId,
  date: { expression: sql.ref('events.at'), kind: 'number', value: (row: Entry) => row.at },
}

const insertion = prepared((tx: Db, entry: NewEntry) => tx.insertInto('events').values(entry))

/** Inserts entries in this order. */
export async function insertEntries(tx: Tx, entries: readonly NewEntry[]): Promise<void> {
  if (entries.length <= ENTRIES_PREPARED) {
    for (const entry of entries) await insertion.later(tx, entry)
    return
  }
  // Events with a reserved identifier have one more column, and so need a statement of their own.
  for (const batch of Map.groupBy(entries, ({ id }) => id === undefined).values()) {
    await insertManyUnawaited(tx, { table: 'events' }, batch)
  }
}

const list = new PagedList(
  (db, criteria: Criteria) => rows(db).where(expression => matching(expression, criteria)),
  byId,
)

export async function listEntries(db: Db, criteria: Criteria, page: Page): Promise<EntryRow[]> {
  return list.read(db, criteria, page)
}

export async function countEntries(db: Db, criteria: Criteria): Promise<number> {
  return countOf(db.selectFrom('events').where(expression => matching(expression, criteria)))
}

/** Records whose erasure is in the log, each as 'user 5'. */
export async function erasedRecords(db: Db): Promise<Set<string>> {
  const rows = await db
    .selectFrom('events')
    .select(['record_kind', 'record_id'])
    .where('record_kind', 'in', ['user', 'customer'])
    .where('action', 'in', ['user.erase', 'customer.erase'])
    .execute()
  return new Set(rows.map(({ record_kind, record_id }) => `${record_kind} ${record_id}`))
}

/** The next entries by identifier, at most `limit`, in the form of `listEntries`. */
export async function entryRowsAfter(db: Db, after: number, limit: number): Promise<EntryRow[]> {
  return rows(db).where('events.id', '>', after).orderBy('events.id').limit(limit).execute()
}

export async function entriesAfter(db: Db, after: number, limit: number): Promise<Entry[]> {
  return entriesIn(db, [[after + 1, Number.MAX_SAFE_INTEGER]], limit)
}

/** Entries within the ranges that meet the criteria, by identifier, at most `limit`. */
export async function entriesIn(
  db: Db,
  ranges: readonly Range[],
  limit: number,
  criteria: Criteria = {},
): Promise<Entry[]> {
  return db
    .selectFrom('events')
    .selectAll()
    .where(expression =>
      expression.or(
        ranges.map(([first, last]) =>
          expression.and([expression('id', '>=', first), expression('id', '<=', last)]),
        ),
      ),
    )
    .where(expression => matching(expression, criteria))
    .orderBy('id')
    .limit(limit)
    .execute()
}

export async function countAfter(db: Db, after: number): Promise<number> {
  return countOf(db.selectFrom('events').where('id', '>', after))
}

export async function readChain(db: Db): Promise<Chain | undefined> {
  return db.selectFrom('audit_chain').selectAll().executeTakeFirst()
}

/** The end of the chain, with the next position and the number of the oldest running transaction. */
export async function readEnd(
  db: Db,
  { concurrent }: Engine,
): Promise<(Chain & { first_position: number; oldest: number }) | undefined> {
  return db
    .selectFrom('audit_chain')
    .leftJoin('audit_seals', 'audit_seals.number', 'audit_chain.number')
    .selectAll('audit_chain')
    .select(sql<number>`coalesce(first_position + entry_count, 1)`.as('first_position'))
    .select(sql.raw<number>(concurrent?.oldest ?? '0').as('oldest'))
    .executeTakeFirst()
}

/**
 * Locks the end of the chain; also returns a number above those of all running transactions.
 * @param waits whether to wait for another process that is sealing
 * @returns undefined if another process is sealing and `waits` is false
 */
export async function lockChain(
  tx: Tx,
  { concurrent }: Engine,
  waits: boolean,
): Promise<(Chain & { next: number }) | undefined> {
  const query = tx
    .selectFrom('audit_chain')
    .selectAll()
    .select(sql.raw<number>(concurrent?.next ?? '0').as('next'))
    .forUpdate()
  return (waits ? query : query.skipLocked()).executeTakeFirst()
}

/** Gives up skipped identifiers, when no transaction can commit them any more. */
export async function forgetMissing(tx: Tx): Promise<void> {
  await tx.updateTable('audit_chain').set({ missing: '[]' }).execute()
}

export async function insertSeal(tx: Tx, seal: Seal, chain: Omit<Chain, 'id'>): Promise<void> {
  await tx.insertInto('audit_seals').values(seal).execute()
  await tx.updateTable('audit_chain').set(chain).execute()
}

export async function sealsAfter(db: Db, number: number, limit: number): Promise<Seal[]> {
  return db
    .selectFrom('audit_seals')
    .selectAll()
    .where('number', '>', number)
    .orderBy('number')
    .limit(limit)
    .execute()
}

export async function sealsNumbered(db: Db, numbers: readonly number[]): Promise<Seal[]> {
  if (numbers.length === 0) return []
  return db.selectFrom('audit_seals').selectAll().where('number', 'in', numbers).execute()
}

/** The seal that covers a position, and those after it, at most `limit`. */
export async function sealsFrom(
  db: Db,
  position: number,
  limit: number,
): Promise<Pick<Seal, 'first_position' | 'entries'>[]> {
  return db
    .selectFrom('audit_seals')
    .select(['first_position', 'entries'])
    .where('first_position', '>=', ({ selectFrom }) =>
      selectFrom('audit_seals')
        .select('first_position')
        .where('first_position', '<=', position)
        .orderBy('first_position', 'desc')
        .limit(1),
    )
    .orderBy('first_position')
    .limit(limit)
    .execute()
}

/** The lowest identifier whose creation is logged; records below it are older than the log, or from the demo. */
export async function firstCreated(db: Db, logged: Pick<Logged, 'kind' | 'creating'>): Promise<number> {
  const { first } = await db
    .selectFrom('events')
    .select(({ fn }) => fn.min('record_id').as('first'))
    .where('record_kind', '=', logged.kind)
    .where('action', 'in', creatingActions(logged))
    .where('before_values', '=', '')
    .executeTakeFirstOrThrow()
  return first ?? Number.MAX_SAFE_INTEGER
}

/** The first entry that is about the account. */
export async function firstAbout(
  db: Db,
  userId: number,
): Promise<Pick<Entry, 'action' | 'personal'> | undefined> {
  return db
    .selectFrom('events')
    .select(['action', 'personal'])
    .where('person_id', '=', userId)
    .orderBy('id')
    .limit(1)
    .executeTakeFirst()
}

/** The next records that have entries. */
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

/** The last entry that says the value of a column of a record; undefined if there is none. */
export const lastEntrySaying = (
  db: Db,
  { kind, id, column }: { kind: string; id: number; column: string },
): Promise<Entry | undefined> =>
  entriesAbout(db, kind)
    .where('record_id', '=', id)
    .where('after_values', 'like', `%"${column}":%`)
    .orderBy('id', 'desc')
    .limit(1)
    .executeTakeFirst()

const entriesAbout = (db: Db, kind: string) =>
  db.selectFrom('events').selectAll().where('record_kind', '=', kind)

const ENTRIES_AT_ONCE = 1000

/** Entries of a kind's records in a range of identifiers, in order of record and event. */
export function entriesOf(db: Db, kind: string, first: number, last: number): AsyncGenerator<Entry> {
  return inPages(({ record_id, id } = { record_id: first, id: 0 }) =>
    entriesAbout(db, kind)
      .where('record_id', '<=', last)
      .where(sql<boolean>`(record_id, id) > (${record_id}, ${id})`)
      .orderBy('record_id')
      .orderBy('id'),
  )
}

/** Entries of a singleton record, such as the settings, in order. */
export function entriesOfOnly(db: Db, kind: string): AsyncGenerator<Entry> {
  return inPages(({ id }: Pick<Entry, 'id'> = { id: 0 }) =>
    entriesAbout(db, kind).where('record_id', 'is', null).where('id', '>', id).orderBy('id'),
  )
}

/** Entries about an account and those that it has made, by identifier, page by page. */
export async function* entriesOfPerson(db: Db, userId: number): AsyncGenerator<EntryRow[]> {
  for (let last = 0; ; ) {
    // Each in the order of its index: of both together, all would be sorted for each page.
    const behind = (column: 'person_id' | 'actor_id') =>
      db
        .selectFrom('events')
        .select('id')
        .where(column, '=', userId)
        .where('id', '>', last)
        .orderBy('id')
        .limit(ENTRIES_AT_ONCE)
    const ids = db
      .selectFrom(behind('person_id').as('about'))
      .select('id')
      .union(db.selectFrom(behind('actor_id').as('by')).select('id'))
      .orderBy('id')
      .limit(ENTRIES_AT_ONCE)
    const page = await rows(db).where('events.id', 'in', ids).orderBy('events.id').execute()
    yield page
    if (page.length < ENTRIES_AT_ONCE) return
    last = page.at(-1)!.id
  }
}

/** @param behind query for the entries after the given one, or for the first ones */
async function* inPages(
  behind: (entry?: Pick<Entry, 'record_id' | 'id'>) => SelectQueryBuilder<Tables, 'events', Entry>,
): AsyncGenerator<Entry> {
  for (let rows = await behind().limit(ENTRIES_AT_ONCE).execute(); ; ) {
    yield* rows
    if (rows.length < ENTRIES_AT_ONCE) return
    rows = await behind(rows.at(-1)).limit(ENTRIES_AT_ONCE).execute()
  }
}

/** The entries about the end of some records of a kind. */
export async function deletionsOf(db: Db, kind: string, ids: readonly number[]): Promise<Entry[]> {
  if (ids.length === 0) return []
  return entriesAbout(db, kind).where('record_id', 'in', ids).where('action', '=', `${kind}.delete`).execute()
}

/** Records of a kind that were about an account, including deleted ones. */
export async function recordsOfPerson(db: Db, kind: string, userId: number): Promise<number[]> {
  const rows = await db
    .selectFrom('events')
    .select('record_id')
    .distinct()
    .where('record_kind', '=', kind)
    .where('person_id', '=', userId)
    .where('record_id', 'is not', null)
    .execute()
  return rows.map(({ record_id }) => record_id!)
}

/**
 * Empties the personal values in the entries of some records: for records without an account, where no entry names
 * one.
 * @returns whether there were any
 */
export async function eraseEntriesOf(tx: Tx, kind: string, ids: readonly number[]): Promise<boolean> {
  if (ids.length === 0) return false
  const filled = (expression: ExpressionBuilder<Tables, 'events'>) =>
    expression.and([
      expression('record_kind', '=', kind),
      expression('record_id', 'in', ids),
      expression('personal', '<>', ''),
    ])
  if (!(await tx.selectFrom('events').select('id').where(filled).limit(1).executeTakeFirst())) return false
  await tx.updateTable('events').set({ personal: '' }).where(filled).execute()
  return true
}

function rows(db: Db) {
  return db
    .selectFrom('events')
    .leftJoin('users', 'users.id', 'events.actor_id')
    .selectAll('events')
    .select('users.login')
}

/** All criteria as one condition. */
function matching(
  expression: ExpressionBuilder<Tables, 'events'>,
  { actorKinds, actorIds, actorName, actions, recordKinds, otherKinds, recordIds, at }: Criteria,
): Expression<SqlBool> {
  const conditions: Expression<SqlBool>[] = []
  if (actorKinds) conditions.push(expression('events.actor_kind', 'in', actorKinds))
  if (actorIds) conditions.push(expression('events.actor_id', 'in', actorIds))
  if (actorName) conditions.push(expression('events.actor_name', '=', actorName))
  if (actions) conditions.push(expression('events.action', 'in', actions))
  if (recordKinds) conditions.push(expression('events.record_kind', 'in', recordKinds))
  if (otherKinds) conditions.push(expression('events.record_kind', 'not in', otherKinds))
  if (recordIds) conditions.push(expression('events.record_id', 'in', recordIds))
  if (at?.first !== undefined) conditions.push(expression('events.at', '>=', at.first))
  if (at?.last !== undefined) conditions.push(expression('events.at', '<=', at.last))
  return expression.and(conditions)
}

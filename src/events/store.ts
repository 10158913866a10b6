/** Every query on the audit log. */
import {
  type Expression,
  type ExpressionBuilder,
  type Insertable,
  type Selectable,
  type SqlBool,
  sql,
} from 'kysely'
import type { Db, Tx } from '../storage/database.ts'
import { countOf, type Order, type Page, PagedList } from '../storage/page.ts'
import { prepared } from '../storage/prepared.ts'
import type { Tables } from '../storage/tables.ts'
import type { AuditChainTable, AuditEntriesTable, AuditSealsTable } from './table.ts'

export type Entry = Selectable<AuditEntriesTable>
export type NewEntry = Insertable<AuditEntriesTable>
export type Seal = Selectable<AuditSealsTable>
export type Chain = Selectable<AuditChainTable>

/** An entry, and the login of the account that acted, as it is now. */
export type EntryRow = Entry & { login: string | null }

/** So that one statement has no more values than engines take. */
const ENTRIES_PER_STATEMENT = 1000

/** From the first identifier to the last. */
export type Range = readonly [first: number, last: number]

/** What a list is narrowed by, in kept form. Several values of one mean any of them. */
export interface Criteria {
  actorKinds?: readonly string[]
  actorIds?: readonly number[]
  actorName?: string
  actions?: readonly string[]
  recordKinds?: readonly string[]
  recordIds?: readonly number[]
  /** Milliseconds since 1970, inclusive. */
  at?: { first?: number; last?: number }
  /** Whom they are about, or who did it. */
  personId?: number
}

const id = sql.ref('audit_entries.id')
const byId: Order = { expression: id, kind: 'number', value: (row: Entry) => row.id }

/** By the names that callers use. Entries are in order of time, but for a moment. */
export const orders: Record<string, Order> = {
  id: byId,
  date: { expression: sql.ref('audit_entries.at'), kind: 'number', value: (row: Entry) => row.at },
}

const insertion = prepared((tx: Db, entry: NewEntry) => tx.insertInto('audit_entries').values(entry))

/** Adds them in this order: one statement, unless they are very many. */
export async function insertEntries(tx: Tx, entries: readonly NewEntry[]): Promise<void> {
  if (entries.length === 1) {
    await insertion(tx, entries[0]!)
    return
  }
  for (let start = 0; start < entries.length; start += ENTRIES_PER_STATEMENT) {
    const some = entries.slice(start, start + ENTRIES_PER_STATEMENT)
    await tx.insertInto('audit_entries').values(some).execute()
  }
}

const list = new PagedList(
  (db, criteria: Criteria) => rows(db).where(expression => matching(expression, criteria)),
  id,
)

export async function listEntries(db: Db, criteria: Criteria, page: Page): Promise<EntryRow[]> {
  return list.read(db, criteria, page)
}

export async function countEntries(db: Db, criteria: Criteria): Promise<number> {
  return countOf(db.selectFrom('audit_entries').where(expression => matching(expression, criteria)))
}

/** The accounts that the log says were erased. */
export async function erasedPeople(db: Db): Promise<Set<number>> {
  const rows = await db
    .selectFrom('audit_entries')
    .select('record_id')
    .where('record_kind', '=', 'user')
    .where('action', '=', 'user.erase')
    .execute()
  return new Set(rows.map(row => row.record_id!))
}

/** The next entries by identifier, at most `limit`, as `listEntries` has them. */
export async function entryRowsAfter(db: Db, after: number, limit: number): Promise<EntryRow[]> {
  return rows(db).where('audit_entries.id', '>', after).orderBy('audit_entries.id').limit(limit).execute()
}

export async function entriesAfter(db: Db, after: number, limit: number): Promise<Entry[]> {
  return entriesIn(db, [[after + 1, Number.MAX_SAFE_INTEGER]], limit)
}

/** Those that any of the ranges has, by identifier, at most `limit`. */
export async function entriesIn(db: Db, ranges: readonly Range[], limit: number): Promise<Entry[]> {
  return db
    .selectFrom('audit_entries')
    .selectAll()
    .where(expression =>
      expression.or(
        ranges.map(([first, last]) =>
          expression.and([expression('id', '>=', first), expression('id', '<=', last)]),
        ),
      ),
    )
    .orderBy('id')
    .limit(limit)
    .execute()
}

export async function countAfter(db: Db, after: number): Promise<number> {
  return countOf(db.selectFrom('audit_entries').where('id', '>', after))
}

export async function readChain(db: Db): Promise<Chain | undefined> {
  return db.selectFrom('audit_chain').selectAll().executeTakeFirst()
}

/** @returns undefined when somebody else is adding a seal at this moment */
export async function holdChain(tx: Tx): Promise<Chain | undefined> {
  return tx.selectFrom('audit_chain').selectAll().forUpdate().skipLocked().executeTakeFirst()
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

function rows(db: Db) {
  return db
    .selectFrom('audit_entries')
    .leftJoin('users', 'users.id', 'audit_entries.actor_id')
    .selectAll('audit_entries')
    .select('users.login')
}

/** What has to hold of a row, all of it. */
function matching(
  expression: ExpressionBuilder<Tables, 'audit_entries'>,
  { actorKinds, actorIds, actorName, actions, recordKinds, recordIds, at, personId }: Criteria,
): Expression<SqlBool> {
  const all: Expression<SqlBool>[] = []
  if (actorKinds) all.push(expression('audit_entries.actor_kind', 'in', actorKinds))
  if (actorIds) all.push(expression('audit_entries.actor_id', 'in', actorIds))
  if (actorName) all.push(expression('audit_entries.actor_name', '=', actorName))
  if (actions) all.push(expression('audit_entries.action', 'in', actions))
  if (recordKinds) all.push(expression('audit_entries.record_kind', 'in', recordKinds))
  if (recordIds) all.push(expression('audit_entries.record_id', 'in', recordIds))
  if (at?.first !== undefined) all.push(expression('audit_entries.at', '>=', at.first))
  if (at?.last !== undefined) all.push(expression('audit_entries.at', '<=', at.last))
  if (personId !== undefined) {
    all.push(
      expression.or([
        expression('audit_entries.person_id', '=', personId),
        expression('audit_entries.actor_id', '=', personId),
      ]),
    )
  }
  return expression.and(all)
}

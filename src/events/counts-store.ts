/** Queries on how many records there are. */
import { type RawBuilder, sql } from 'kysely'
import type { Database, Db, Tx } from '../storage/database.ts'
import { missingIn, type Range, rangesIn, withoutNext } from './ranges.ts'
import { type Chain, entriesIn, readChain, sealsAfter } from './store.ts'
import type { EventsTable, RecordCountsTable } from './table.ts'

/** A kind of record whose number is kept, and the field by whose values. */
export interface Counted {
  readonly kind: string
  readonly table: string
  /** Field and column. */
  readonly field: string
}

/** How many there are with a value, or by how many a change alters that. */
export type Count = Omit<RecordCountsTable, 'record_kind'>
export type ChangedValues = Pick<EventsTable, 'record_kind' | 'before_values' | 'after_values'>

/** What one statement sees. */
export interface Moment {
  /** Number of the last seal. */
  readonly number: number
  /** See `counted_kinds`; undefined for a kind that was never counted by this field. */
  readonly asOf: number | undefined
  /** The counts that are kept. */
  readonly kept: readonly Count[]
  /** Those of the rows themselves, if they were asked for. */
  readonly actual: readonly Count[]
  /** Changes that no seal has yet. */
  readonly unsealed: readonly ChangedValues[]
}

// Where sealing is that far behind, to count the rows is faster.
const MOST_EVENTS = 5000
const MOST_UNSEALED = 2000
const MOST_RANGES = 100
const ATTEMPTS = 3
const SEALS_AT_ONCE = 100
const ENTRIES_AT_ONCE = 100_000

interface Row {
  readonly part: 'chain' | 'newest' | 'asOf' | 'kept' | 'actual' | 'unsealed'
  readonly value: string
  readonly records: number
  readonly before_values: string
  readonly after_values: string
}

/**
 * @param countsRows whether the rows are counted as well, which takes long
 * @returns undefined where too much waits for a seal, or the chain grew each time
 */
export async function readMoment(db: Db, of: Counted, countsRows = false): Promise<Moment | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const chain = await readChain(db)
    // Where it is damaged, `check` says so. Nobody should wait for it.
    const missing = chain && missingIn(chain)
    if (!missing || missing.length > MOST_RANGES) return undefined
    const moment = momentOf(await readParts(db, of, chain, withoutNext(missing), countsRows), of, chain)
    if (moment !== 'later') return moment
  }
  return undefined
}

async function readParts(
  db: Db,
  of: Counted,
  { last_entry }: Chain,
  missing: readonly Range[],
  countsRows: boolean,
): Promise<readonly Row[]> {
  const [kind, field] = [sql.lit(of.kind), sql.lit(of.field)]
  const parts = [
    sql`SELECT 'chain' AS part, '' AS value, number AS records, '' AS before_values, '' AS after_values FROM audit_chain`,
    sql`SELECT 'newest', '', coalesce(max(id), 0), '', '' FROM events`,
    sql`SELECT 'asOf', '', as_of, '', '' FROM counted_kinds WHERE record_kind = ${kind} AND field = ${field}`,
    sql`SELECT 'kept', value, records, '', '' FROM record_counts WHERE record_kind = ${kind}`,
    unsealed(of, [[last_entry + 1, last_entry + MOST_EVENTS], ...missing]),
    ...(countsRows ? [actualCounts(of)] : []),
  ]
  return (await sql<Row>`${sql.join(parts, sql` UNION ALL `)}`.execute(db)).rows
}

function momentOf(rows: readonly Row[], { kind }: Counted, chain: Chain): Moment | 'later' | undefined {
  const of = (part: Row['part']) => rows.filter(row => row.part === part)
  const numberOf = (part: Row['part']) => of(part)[0]?.records
  const counts = (part: Row['part']) =>
    of(part).map(({ value, records }) => ({ value, records: Number(records) }))
  const unsealed = of('unsealed').map(row => ({ ...row, record_kind: kind }))
  if (numberOf('newest')! > chain.last_entry + MOST_EVENTS || unsealed.length > MOST_UNSEALED)
    return undefined
  if (numberOf('chain') !== chain.number) return 'later'
  return {
    number: chain.number,
    asOf: numberOf('asOf'),
    kept: counts('kept'),
    actual: counts('actual'),
    unsealed,
  }
}

/** The kind is not compared as a column, or an engine would look through the index of all events of the kind. */
function unsealed({ kind, field }: Counted, ranges: readonly Range[]): RawBuilder<unknown> {
  const within = ranges.map(([first, last]) => sql`id BETWEEN ${first} AND ${last}`)
  const named = sql.lit(`%"${field}":%`)
  return sql`SELECT * FROM (
    SELECT 'unsealed', '', 0, before_values, after_values FROM events
    WHERE (${sql.join(within, sql` OR `)}) AND record_kind || '' = ${sql.lit(kind)}
      AND (before_values LIKE ${named} OR after_values LIKE ${named})
    LIMIT ${sql.lit(MOST_UNSEALED + 1)}
  ) AS waiting`
}

const actualCounts = ({ table, field }: Counted) => sql`
  SELECT 'actual', ${sql.ref(field)}, count(*), '', '' FROM ${sql.table(table)} GROUP BY ${sql.ref(field)}`

/** With the rows, however long that takes: nobody else waits for it. */
export async function readWithRows(database: Database, of: Counted): Promise<Moment | undefined> {
  const { engine } = database
  if (!engine.concurrent) return readMoment(database.background().reader, of, true)
  return database.transaction(async tx => {
    for (const statement of engine.withoutLimits) await sql.raw(statement).execute(tx)
    return readMoment(tx, of, true)
  })
}

/** See `counted_kinds`; undefined for a kind that was never counted by this field. */
export async function readAsOf(db: Db, { kind, field }: Counted): Promise<number | undefined> {
  const row = await db
    .selectFrom('counted_kinds')
    .select('as_of')
    .where('record_kind', '=', kind)
    .where('field', '=', field)
    .executeTakeFirst()
  return row?.as_of
}

/**
 * Entries of the seals behind this one, as the transaction that has locked the chain sees them.
 * @returns undefined where a seal is damaged
 */
export async function sealedAfter(tx: Tx, number: number): Promise<ChangedValues[] | undefined> {
  const entries: ChangedValues[] = []
  for (let last = number; ; ) {
    const seals = await sealsAfter(tx, last, SEALS_AT_ONCE)
    for (const seal of seals) {
      const ranges = rangesIn(seal.entries)
      if (!ranges) return undefined
      entries.push(...(await entriesIn(tx, ranges, ENTRIES_AT_ONCE)))
    }
    if (seals.length < SEALS_AT_ONCE) return entries
    last = seals.at(-1)!.number
  }
}

/** @returns whether the counts of the kind are right as of the seal before: only then is the next one counted */
export async function advance(tx: Tx, { kind, field }: Counted, from: number, to: number): Promise<boolean> {
  const advanced = await tx
    .updateTable('counted_kinds')
    .set({ as_of: to })
    .where('record_kind', '=', kind)
    .where('field', '=', field)
    .where('as_of', '=', from)
    .returning('record_kind')
    .execute()
  return advanced.length > 0
}

/** @param counts by how many each changes */
export async function addCounts(tx: Tx, { kind }: Counted, counts: readonly Count[]): Promise<void> {
  if (counts.length === 0) return
  await tx
    .insertInto('record_counts')
    .values(counts.map(count => ({ ...count, record_kind: kind })))
    .onConflict(conflict =>
      conflict
        .columns(['record_kind', 'value'])
        .doUpdateSet({ records: sql<number>`record_counts.records + excluded.records` }),
    )
    .execute()
}

/** @param asOf see `counted_kinds` */
export async function replaceCounts(
  tx: Tx,
  of: Counted,
  counts: readonly Count[],
  asOf: number,
): Promise<void> {
  const { kind, field } = of
  await tx.deleteFrom('record_counts').where('record_kind', '=', kind).execute()
  await addCounts(tx, of, counts)
  await tx
    .insertInto('counted_kinds')
    .values({ record_kind: kind, field, as_of: asOf })
    .onConflict(conflict => conflict.column('record_kind').doUpdateSet({ field, as_of: asOf }))
    .execute()
}

/** Queries on how many records there are. */
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../storage/database.ts'
import { type Range, rangesIn } from './ranges.ts'
import { type Chain, entriesIn, readChain, sealsAfter } from './store.ts'
import type { EventsTable, RecordCountsTable } from './table.ts'

/** A kind of record whose number is kept. */
export interface Counted {
  readonly kind: string
  readonly table: string
  /** Field and column. */
  readonly field: string
}

export type Count = RecordCountsTable
export type ChangedValues = Pick<EventsTable, 'record_kind' | 'before_values' | 'after_values'>

/** What one statement sees: all of one moment. */
export interface Moment {
  readonly chain: Chain
  /** The counts that are kept. */
  readonly kept: readonly Count[]
  /** Those of the tables themselves, if they were asked for. */
  readonly actual: readonly Count[]
  /** What is in the log and not sealed. */
  readonly unsealed: readonly ChangedValues[]
}

/** More events without a seal are not looked through. */
const MOST_UNSEALED = 20_000
const ATTEMPTS = 5
const SEALS_AT_ONCE = 100
const ENTRIES_AT_ONCE = 100_000

interface Row {
  readonly part: 'chain' | 'kept' | 'actual' | 'unsealed'
  readonly kind: string
  readonly value: string
  readonly records: number
  readonly before_values: string
  readonly after_values: string
}

/**
 * @param countsRows whether the tables are counted as well, which takes long
 * @returns undefined where too much waits for a seal, or the chain grew each time
 */
export async function readMoment(
  db: Db,
  kinds: readonly Counted[],
  countsRows = false,
): Promise<Moment | undefined> {
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const chain = await readChain(db)
    if (!chain) return undefined
    const missing: Range[] = JSON.parse(chain.missing)
    const actual = countsRows ? kinds.map(actualCounts) : []
    const query = sql.join(
      [chainEnd, keptCounts(kinds), unsealed(kinds, chain, missing), ...actual],
      sql` UNION ALL `,
    )
    const { rows } = await sql<Row>`${query}`.execute(db)
    const of = (part: Row['part']) => rows.filter(row => row.part === part)
    if (of('unsealed').length > MOST_UNSEALED) return undefined
    if (of('chain')[0]?.records !== chain.number) continue
    return {
      chain,
      kept: of('kept').map(countOf),
      actual: of('actual').map(countOf),
      unsealed: of('unsealed').map(({ kind, ...values }) => ({ ...values, record_kind: kind })),
    }
  }
  return undefined
}

const countOf = ({ kind, value, records }: Row): Count => ({
  record_kind: kind,
  value,
  records: Number(records),
})

const chainEnd = sql`
  SELECT 'chain' AS part, '' AS kind, '' AS value, number AS records, '' AS before_values, '' AS after_values
  FROM audit_chain`

const namesOf = (kinds: readonly Counted[]) => sql.join(kinds.map(({ kind }) => sql.lit(kind)))

const keptCounts = (kinds: readonly Counted[]) => sql`
  SELECT 'kept', record_kind, value, records, '', '' FROM record_counts WHERE record_kind IN (${namesOf(kinds)})`

const actualCounts = ({ kind, table, field }: Counted) => sql`
  SELECT 'actual', ${sql.lit(kind)}, ${sql.ref(field)}, count(*), '', ''
  FROM ${sql.table(table)} GROUP BY ${sql.ref(field)}`

/** The kind is not compared as a column, or an engine would look through the index of all events of the kind. */
function unsealed(
  kinds: readonly Counted[],
  { last_entry }: Chain,
  missing: readonly Range[],
): RawBuilder<unknown> {
  const ranges = missing.map(([first, last]) => sql`id BETWEEN ${first} AND ${last}`)
  return sql`
  SELECT * FROM (
    SELECT 'unsealed', record_kind, '', 0, before_values, after_values FROM events
    WHERE (${sql.join([sql`id > ${last_entry}`, ...ranges], sql` OR `)}) AND record_kind || '' IN (${namesOf(kinds)})
    LIMIT ${sql.lit(MOST_UNSEALED + 1)}
  ) AS waiting`
}

/** Entries of the seals behind this one, as the transaction that holds the chain sees them. */
export async function* sealedAfter(tx: Tx, number: number): AsyncGenerator<ChangedValues[]> {
  for (let last = number; ; ) {
    const seals = await sealsAfter(tx, last, SEALS_AT_ONCE)
    for (const seal of seals) yield await entriesIn(tx, rangesIn(seal.entries) ?? [], ENTRIES_AT_ONCE)
    if (seals.length < SEALS_AT_ONCE) return
    last = seals.at(-1)!.number
  }
}

/** @param counts by how many each changes */
export async function addCounts(tx: Tx, counts: readonly Count[]): Promise<void> {
  if (counts.length === 0) return
  await tx
    .insertInto('record_counts')
    .values(counts)
    .onConflict(conflict =>
      conflict
        .columns(['record_kind', 'value'])
        .doUpdateSet({ records: sql<number>`record_counts.records + excluded.records` }),
    )
    .execute()
}

/** @param counted the last seal that they know */
export async function replaceCounts(tx: Tx, counts: readonly Count[], counted: number): Promise<void> {
  await tx.deleteFrom('record_counts').execute()
  await addCounts(tx, counts)
  await tx.updateTable('audit_chain').set({ counted }).execute()
}

/**
 * How many records of a kind there are, by the value of one field: to count millions of rows takes long. The log says what
 * the value was before a change and what it is after it, so whoever seals events adds them up, and no write waits for it.
 * The counts are those of what is sealed; whoever reads them adds what is not.
 * See docs/decisions/record-counts.md.
 */
import type { Database, Db, Tx } from '../storage/database.ts'
import type { Schema, Table } from '../storage/table.ts'
import * as store from './counts-store.ts'
import { type Chain, holdChain, readChain } from './store.ts'

/** Number of a seal that there is not. */
const UNKNOWN = -1

const countedOf = ({ name, logged }: Table): store.Counted[] =>
  logged?.counted ? [{ kind: logged.kind, table: name, field: logged.counted }] : []

const countedIn = (schema: Schema): store.Counted[] => schema.flatMap(countedOf)

/**
 * @param values only records with one of these; all when omitted
 * @returns undefined where the counts are not known at the moment, so that the rows have to be counted
 */
export async function countedRecords(
  db: Db,
  table: Table,
  values?: readonly string[],
): Promise<number | undefined> {
  const kinds = countedOf(table)
  const moment = await store.readMoment(db, kinds)
  if (!moment || !isKnown(moment.chain)) return undefined
  const counts = [...moment.kept, ...changesBy(moment.unsealed, kinds)]
  const wanted = counts.filter(({ value }) => values?.includes(value) ?? true)
  return wanted.reduce((total, { records }) => total + records, 0)
}

/** Within the transaction that seals these entries, and holds the chain. */
export async function countSealed(
  tx: Tx,
  schema: Schema,
  entries: readonly store.ChangedValues[],
): Promise<void> {
  await store.addCounts(tx, sums(changesBy(entries, countedIn(schema))))
}

/** Whether the counts are those of the last seal. */
export const isKnown = ({ counted, number }: Pick<Chain, 'counted' | 'number'>): boolean => counted === number

/**
 * Counts the rows, unless the counts are known: after a migration, or when a program has sealed that does not count. Others
 * write and seal meanwhile.
 */
export async function countAnew(database: Database): Promise<void> {
  const { reader, engine, schema } = database
  const chain = await readChain(reader)
  if (!chain || isKnown(chain)) return
  const kinds = countedIn(schema)
  const moment = await store.readMoment(database.background().reader, kinds, true)
  if (!moment) return
  await database.transaction(async tx => {
    const end = await holdChain(tx, engine, true)
    if (!end || isKnown(end)) return
    const counts = sealedCounts(moment, kinds)
    for await (const entries of store.sealedAfter(tx, moment.chain.number)) {
      counts.push(...changesBy(entries, kinds))
    }
    await store.replaceCounts(tx, sums(counts), end.number)
  })
}

/** How many times as long as a count took it is not repeated, if it failed, or if a program that does not count goes on sealing. */
const PAUSES = 20

/** `countAnew` for whoever calls it every few seconds, so that very many rows are not counted all the time. */
export function countingAnew(database: Database): () => Promise<void> {
  let notBefore = 0
  return async () => {
    const began = performance.now()
    if (began < notBefore) return
    try {
      await countAnew(database)
    } finally {
      const ended = performance.now()
      notBefore = ended + PAUSES * (ended - began)
    }
  }
}

/** Counts the rows, whatever is known: for whoever has written rows without events. */
export async function recount(database: Database): Promise<void> {
  await database.transaction(async tx => {
    await holdChain(tx, database.engine, true)
    await store.replaceCounts(tx, [], UNKNOWN)
  })
  await countAnew(database)
}

/** Describes each count that is not that of the rows. */
export async function wrongCounts(database: Database): Promise<string[]> {
  const kinds = countedIn(database.schema)
  const moment = await store.readMoment(database.background().reader, kinds, true)
  if (!moment || !isKnown(moment.chain)) return []
  const differences = sums([...sealedCounts(moment, kinds), ...moment.kept.map(negative)])
  return differences.map(
    ({ record_kind, value, records }) =>
      `record_counts: ${record_kind}, ${value}: ${Math.abs(records)} too ${records > 0 ? 'few' : 'many'}; run \`affiliated check --repair\`.`,
  )
}

/** The rows as of the last seal: without what is not sealed. */
const sealedCounts = ({ actual, unsealed }: store.Moment, kinds: readonly store.Counted[]): store.Count[] => [
  ...actual,
  ...changesBy(unsealed, kinds).map(negative),
]

const negative = (count: store.Count): store.Count => ({ ...count, records: -count.records })

/** By how many events change each count. */
function changesBy(entries: readonly store.ChangedValues[], kinds: readonly store.Counted[]): store.Count[] {
  const fields = new Map(kinds.map(({ kind, field }) => [kind, field]))
  return entries.flatMap(({ record_kind, before_values, after_values }) => {
    const field = fields.get(record_kind)
    if (field === undefined) return []
    const change = (values: string, records: number) =>
      values.includes(`"${field}":`)
        ? [{ record_kind, value: String(JSON.parse(values)[field]), records }]
        : []
    return [...change(before_values, -1), ...change(after_values, 1)]
  })
}

/** Each kind and value once; without those that come to nothing. */
function sums(counts: readonly store.Count[]): store.Count[] {
  const byKey = new Map<string, store.Count>()
  for (const { record_kind, value, records } of counts) {
    const key = JSON.stringify([record_kind, value])
    byKey.set(key, { record_kind, value, records: records + (byKey.get(key)?.records ?? 0) })
  }
  return [...byKey.values()].filter(({ records }) => records !== 0)
}

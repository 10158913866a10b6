/**
 * How many records of a kind there are, by the value of one field: to count millions of rows takes long. The log says what
 * the value was before a change and what it is after it, so whoever seals events adds them up, and no write waits for it.
 * The counts are those of what is sealed; whoever reads them adds what is not.
 * See docs/decisions/record-counts.md.
 */
import { randomInt } from 'node:crypto'
import type { Database, Db, Tx } from '../storage/database.ts'
import type { Schema, Table } from '../storage/table.ts'
import * as store from './counts-store.ts'
import { lockChain, readChain } from './store.ts'

/** In the place of a seal's number: rows are being written without events, and to count them has to wait. */
const SUSPENDED = -1
/** In the same place: to be counted. Each time another number, so that a count that is under way is not taken for a later one. */
const unknown = () => -randomInt(2, 2 ** 47)

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
  const [of] = countedOf(table)
  const moment = of && (await store.readMoment(db, of))
  if (!moment || !isKnown(moment)) return undefined
  const changes = changesBy(moment.unsealed, of)
  if (!changes) return undefined
  const wanted = [...moment.kept, ...changes].filter(({ value }) => values?.includes(value) ?? true)
  return wanted.reduce((total, { records }) => total + records, 0)
}

/**
 * Within the transaction that seals these entries, and has locked the chain.
 * @param from number of the seal before
 * @param to number of theirs
 */
export async function countSealed(
  tx: Tx,
  schema: Schema,
  entries: readonly store.ChangedValues[],
  from: number,
  to: number,
): Promise<void> {
  for (const of of countedIn(schema)) {
    const changes = changesBy(entries, of)
    if (changes && (await store.advance(tx, of, from, to))) await store.addCounts(tx, of, sums(changes))
  }
}

const isKnown = ({ asOf, number }: Pick<store.Moment, 'asOf' | 'number'>) => asOf === number

/**
 * Counts the rows of each kind whose counts are not known: one that was never counted, or whose events a program has sealed
 * that does not count it. Others write and seal meanwhile.
 */
export async function countAnew(database: Database): Promise<void> {
  const number = (await readChain(database.reader))?.number ?? 0
  for (const of of countedIn(database.schema)) {
    const asOf = await store.readAsOf(database.reader, of)
    if (asOf !== SUSPENDED && !isKnown({ asOf, number })) await countRows(database, of)
  }
}

async function countRows(database: Database, of: store.Counted): Promise<void> {
  const moment = await store.readWithRows(database, of)
  const counts = moment && sealedCounts(moment, of)
  if (!counts || isKnown(moment)) return
  await database.transaction(async tx => {
    const end = await lockChain(tx, database.engine, true)
    // Otherwise somebody else has counted, or what was counted is out of date.
    if (!end || (await store.readAsOf(tx, of)) !== moment.asOf) return
    const later = await store.sealedAfter(tx, moment.number)
    const changes = later && changesBy(later, of)
    if (changes) await store.replaceCounts(tx, of, sums([...counts, ...changes]), end.number)
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

/**
 * For work that writes rows without events: lists count their rows meanwhile, and if it fails, until the records are counted
 * by `check --repair`.
 */
export async function whileUncounted(database: Database, work: () => Promise<void>): Promise<void> {
  await forget(database, SUSPENDED)
  await work()
  await recount(database)
}

/** Counts the rows, whatever is known. */
export async function recount(database: Database): Promise<void> {
  await forget(database, unknown())
  await countAnew(database)
}

async function forget(database: Database, asOf: number): Promise<void> {
  await database.transaction(async tx => {
    await lockChain(tx, database.engine, true)
    for (const of of countedIn(database.schema)) await store.replaceCounts(tx, of, [], asOf)
  })
}

/** Describes each count that is not that of the rows. */
export async function* wrongCounts(database: Database): AsyncGenerator<string> {
  for (const of of countedIn(database.schema)) {
    const moment = await store.readWithRows(database, of)
    const counts = moment && sealedCounts(moment, of)
    if (!counts || !isKnown(moment)) continue
    for (const { value, records } of sums([...counts, ...moment.kept.map(negative)])) {
      yield `record_counts: ${of.kind}, ${value}: ${Math.abs(records)} too ${records > 0 ? 'few' : 'many'}; run \`affiliated check --repair\`.`
    }
  }
}

/** The rows as of the last seal: without what is not sealed. */
function sealedCounts({ actual, unsealed }: store.Moment, of: store.Counted): store.Count[] | undefined {
  const changes = changesBy(unsealed, of)
  return changes && [...actual, ...changes.map(negative)]
}

const negative = (count: store.Count): store.Count => ({ ...count, records: -count.records })

/**
 * By how many events change each count.
 * @returns undefined where one of them cannot be read
 */
function changesBy(
  entries: readonly store.ChangedValues[],
  { kind, field }: store.Counted,
): store.Count[] | undefined {
  const change = (values: string, records: number) => {
    // Most edits are of other fields.
    const value = values.includes(`"${field}":`) ? JSON.parse(values)[field] : undefined
    return value === undefined ? [] : [{ value, records }]
  }
  try {
    return entries
      .filter(({ record_kind }) => record_kind === kind)
      .flatMap(({ before_values, after_values }) => [
        ...change(before_values, -1),
        ...change(after_values, 1),
      ])
  } catch {
    // Damaged: `check` says so. Nobody should wait for it.
    return undefined
  }
}

/** Each value once; without those that come to nothing. */
function sums(counts: readonly store.Count[]): store.Count[] {
  const totals = new Map<string, number>()
  for (const { value, records } of counts) totals.set(value, records + (totals.get(value) ?? 0))
  return [...totals].map(([value, records]) => ({ value, records })).filter(({ records }) => records !== 0)
}

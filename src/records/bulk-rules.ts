/**
 * Bulk changes: of the given records, or of all that match the filters of their list. Records are processed in order of
 * identifier, in parts with a transaction each, so that nobody waits long for them; one failure does not stop the others.
 * After a limit of records or time it stops, and returns where to continue.
 */
import { Failure, isOfCaller, refuseInvalid } from '../base/errors.ts'
import type { Settings } from '../base/settings.ts'
import { inTransaction, type RequestContext, writeMany } from '../events/write.ts'
import { isSelective } from './filters.ts'
import type { Kind } from './kind.ts'
import type { Reading } from './rules.ts'
import type { Store } from './store.ts'

const AT_ONCE = 50
const MOST = 1000
const LONGEST_MS = 10_000

/** Selects the records, beside the filters of their list. */
export interface BulkArguments {
  /** Selects all records, if there is no filter. */
  readonly all?: boolean
  /** Only records after this identifier. */
  readonly after?: number
  /** Statuses that the records must have: the action fails for others. Any if empty. */
  readonly from?: readonly string[]
  /** The records as they were when the decision was made: the action fails for those that differ or are not among them. */
  readonly seen?: readonly Seen[]
}

type Seen = Readonly<Record<string, unknown>>

interface NotDone {
  readonly id: number
  readonly failure: Failure
}

export interface Outcome {
  readonly done: number[]
  readonly failed: NotDone[]
  /** `after` of the next request; null when nothing is left. */
  readonly next: number | null
}

interface Row {
  readonly id: number
  readonly status: string
}

/** What bulk changes need of a kind. */
export interface BulkKind {
  readonly name: string
  readonly criteria: Kind['criteria']
  readonly reading: Pick<Reading<Row>, 'orders' | 'page'>
  readonly store: Pick<Store<never>, 'lockAll'>
  /** The record as callers see it. */
  show(row: Row, settings: Settings): object
}

/** @param row as it was before */
type Act = (context: RequestContext, row: Row) => Promise<unknown>

interface BulkChange {
  readonly context: RequestContext
  readonly kind: BulkKind
  /** The filters of the list, and the identifiers that were sent. */
  readonly narrowing: object
  readonly act: Act
}

/** @throws Failure invalid_argument if nothing selects the records */
export async function bulk(
  context: RequestContext,
  kind: BulkKind,
  args: BulkArguments,
  act: Act,
): Promise<Outcome> {
  const {
    all,
    after: start = 0,
    from = [],
    seen,
    ...narrowing
  } = args as BulkArguments & Record<string, unknown>
  const settings = await context.settings.current()
  const refuseUnseen = seen && refusalOfUnseen(kind, seen, settings)
  const actFrom: Act = async (inside, row) => {
    await act(inside, row)
    // After it, since its own refusal says more; what it has done is rolled back.
    if (from.length > 0 && !from.includes(row.status)) {
      throw new Failure('wrong_status', { message: `It is ${row.status}, and not ${from.join(' or ')}.` })
    }
    refuseUnseen?.(row)
  }
  if (!all && !isSelective(kind.criteria(narrowing, settings))) {
    refuseInvalid({ all: `must be sent where nothing else says which ${kind.name} is meant.` })
  }
  const change = { context, kind, narrowing, act: actFrom }
  const namedIds = narrowing[`${kind.name}_id`] as readonly number[] | undefined
  const parts = namedIds?.length ? namedParts(namedIds, start) : listedParts(change, start)
  const deadline = performance.now() + LONGEST_MS
  const outcome = { done: [] as number[], failed: [] as NotDone[] }
  let last = start
  for await (const ids of parts) {
    if (performance.now() > deadline || outcome.done.length + outcome.failed.length >= MOST) {
      return { ...outcome, next: last }
    }
    try {
      const partOutcome = await changePart(change, ids)
      outcome.done.push(...partOutcome.done)
      outcome.failed.push(...partOutcome.failed)
    } catch (error) {
      // Completed parts stay and are answered; the next request meets the error.
      if (last === start) throw error
      return { ...outcome, next: last }
    }
    last = ids.at(-1)!
  }
  return { ...outcome, next: null }
}

function refusalOfUnseen({ name, show }: BulkKind, seen: readonly Seen[], settings: Settings) {
  const seenById = new Map(seen.map(one => [one[`${name}_id`], one]))
  return (row: Row) => {
    const before = seenById.get(row.id)
    const record: Seen = { ...show(row, settings) }
    const differs = (field: string) => JSON.stringify(before?.[field]) !== JSON.stringify(record[field])
    const field = before === undefined ? undefined : Object.keys(before).find(differs)
    if (before !== undefined && field === undefined) return
    const message =
      field === undefined
        ? 'It is not among those that were looked at.'
        : `Its ${field.replace(/_id$/, '').replaceAll('_', ' ')} has changed since it was looked at.`
    throw new Failure('precondition_failed', { message })
  }
}

async function* namedParts(namedIds: readonly number[], after: number): AsyncGenerator<number[]> {
  const ids = [...new Set(namedIds)].filter(id => id > after).sort((a, b) => a - b)
  for (let start = 0; start < ids.length; start += AT_ONCE) yield ids.slice(start, start + AT_ONCE)
}

async function* listedParts(change: BulkChange, start: number): AsyncGenerator<number[]> {
  for (let after = start; ; ) {
    const ids = (await rowsOf(change, after)).map(({ id }) => id)
    if (ids.length > 0) yield ids
    if (ids.length < AT_ONCE) return
    after = ids.at(-1)!
  }
}

async function rowsOf(
  { context, kind: { name, reading }, narrowing }: Omit<BulkChange, 'act'>,
  after: number,
): Promise<readonly Row[]> {
  const order = reading.orders[`${name}_id`]!
  const page = { order, descending: false, after: { value: after, id: after }, offset: 0, limit: AT_ONCE }
  return reading.page(context, narrowing, page)
}

/** Changes all in one transaction; if one fails, each in a transaction of its own. */
async function changePart(change: BulkChange, ids: readonly number[]): Promise<Omit<Outcome, 'next'>> {
  try {
    return await changeAll(change, ids)
  } catch (error) {
    const failure = ofOneRecord(error)
    if (ids.length === 1) return { done: [], failed: [{ id: ids[0]!, failure }] }
  }
  const outcome = { done: [] as number[], failed: [] as NotDone[] }
  for (const id of ids) {
    const outcomeOfOne = await changePart(change, [id])
    outcome.done.push(...outcomeOfOne.done)
    outcome.failed.push(...outcomeOfOne.failed)
  }
  return outcome
}

/** @throws any error that is not specific to one record */
function ofOneRecord(error: unknown): Failure {
  if (!(error instanceof Failure) || isOfCaller(error)) throw error
  return error
}

/** Locks the records first, so that none is changed that has left the list meanwhile. */
async function changeAll(
  { context, kind, narrowing, act }: BulkChange,
  ids: readonly number[],
): Promise<Omit<Outcome, 'next'>> {
  const { name, store } = kind
  return writeMany(context, async tx => {
    await store.lockAll(tx, ids)
    const inside = inTransaction(context, tx)
    const named = { ...narrowing, [`${name}_id`]: ids }
    const rows = await rowsOf({ context: inside, kind, narrowing: named }, 0)
    for (const row of rows) await act(inside, row)
    const matching = new Set(rows.map(({ id }) => id))
    const missing = new Failure(`no_${name}`, {
      message: `There is no ${name} with this identifier, or it is not among those that were asked for.`,
    })
    return {
      done: ids.filter(id => matching.has(id)),
      failed: ids.filter(id => !matching.has(id)).map(id => ({ id, failure: missing })),
    }
  })
}

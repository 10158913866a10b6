/**
 * Rules for sources. A delivery is read only when its signature is right, and its conversions are reported like any
 * others.
 */
import { entryOf, Failure } from '../../base/errors.ts'
import { formatTime, now } from '../../base/time.ts'
import { type Context, type RequestContext, write } from '../../events/write.ts'
import { existing, plainRules } from '../../records/rules.ts'
import { create, join } from '../conversions/rules.ts'
import { currencyUnsaid, reportsOf } from '../conversions/story.ts'
import { type ArgumentsOf, problemOf, read, type Sent } from './leaving-out.ts'
import { text } from './reading.ts'
import type { Delivery } from './report.ts'
import type { Reports } from './sender.ts'
import { senders } from './senders.ts'
import type { Headers } from './signatures.ts'
import { type Source, source } from './source.ts'
import * as store from './store.ts'

/** The log shows by the date that a secret was replaced, since it never has the secret itself. */
const dating: typeof store.sources = {
  ...store.sources,
  update: (tx, before, change) =>
    store.sources.update(tx, before, { ...change, ...(change.secret !== undefined && { secret_at: now() }) }),
}

export const rules = plainRules(source, dating)

export interface Delivered {
  readonly headers: Headers
  readonly body: Buffer
  /** @throws Failure invalid_json */
  parse(body: Buffer): unknown
  readonly argumentsOf: ArgumentsOf
}

/** The result of one conversion in a delivery. */
type Result =
  | { readonly status: number; readonly conversion_id: number }
  | { readonly status: number; readonly code: string; readonly message: string }

export interface DeliveryResult {
  readonly results: readonly Result[]
  /** Why the delivery changes nothing, where that is so. */
  readonly ignored?: string
}

/**
 * Takes a delivery. A conversion that will never be accepted is answered, and noted with the source, but is no
 * failure: the sender would repeat the delivery for days.
 * @throws Failure wrong_signature, invalid_json
 */
export async function deliver(
  context: RequestContext,
  id: number,
  { headers, body, parse, argumentsOf }: Delivered,
): Promise<DeliveryResult> {
  const source = await store.sourceWithSecret(context.database.reader, id)
  const sender = source && senders[source.type]
  if (sender?.isPing?.(body)) return { results: [], ignored: 'It only asks whether anybody listens.' }
  const isActive = source?.status === 'active' && source.secret !== ''
  if (!isActive || !(await sender?.isSigned({ headers, body, at: now() }, source))) {
    throw new Failure('wrong_signature')
  }
  const delivery = await readPayload(context, source, parse(body), headers)
  const { conversions, names = [], conflict, ignored, event = '' } = delivery
  const results: Result[] = []
  const answer = async ({ result, problem }: Reported, name: string) => {
    if (result) results.push(result)
    if (problem) await keepProblem(context, id, name, problem)
  }
  if (conflict !== undefined) {
    await answer(refusalBy(new Failure('conversion_conflict', { message: conflict })), event)
  }
  if (names.length > 1) await answer(await joined(context, source.context, names), event)
  for (const one of conversions) {
    const sent = { ...one, context: source.context }
    await answer(await report(context, id, sent, argumentsOf), text(one.reference) || event)
  }
  return { results, ...(ignored !== undefined && { ignored }) }
}

const readPayload = (context: Context, source: Source, payload: unknown, headers: Headers) =>
  senders[source.type].read(payload, source, reportsTo(context, source), headers)

const reportsTo = (context: Context, { id, type, context: shop }: Source): Reports => ({
  of: names => reportsOf(context, shop, names),
  otherSourceOf: async ({ source_id }) =>
    source_id === id
      ? undefined
      : store.activeSource(context.database.reader, { id: source_id, type, context: shop }),
  currencyUnsaid: sent => currencyUnsaid(context, shop, sent),
})

interface Reported {
  /** None where it is no conversion, and nothing is wrong. */
  readonly result?: Result
  /** What the owner of the shop should know. */
  readonly problem?: string
}

/** Joins names of one payment, which may credit what has waited for it. */
const joined = (context: RequestContext, shop: string, names: readonly string[]): Promise<Reported> =>
  unlessRefused(async () => {
    await join(context, shop, names)
    return {}
  })

function report(
  context: RequestContext,
  sourceId: number,
  sent: Sent,
  argumentsOf: ArgumentsOf,
): Promise<Reported> {
  return unlessRefused(async () => {
    const { args, leftOut } = read(sent, argumentsOf)
    const { conversion, replayed, difference } = await create(context, args, { sourceId })
    const problems = [
      ...(leftOut.length > 0 ? [problemOf(leftOut)] : []),
      ...(difference ? [`${difference.message} What was reported first counts.`] : []),
    ]
    return {
      result: { status: replayed ? 200 : 201, conversion_id: conversion.id },
      ...(problems.length > 0 && { problem: problems.join(' ') }),
    }
  })
}

async function unlessRefused(work: () => Promise<Reported>): Promise<Reported> {
  try {
    return await work()
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure
    return refusalBy(failure)
  }
}

function refusalBy({ failure, message }: Failure): Reported {
  const { status, code } = entryOf(failure)
  return { result: { status, code, message }, problem: message }
}

const MAX_PROBLEM = 500
const MAX_NAME = 100
/** Length of a time without its seconds. */
const MINUTE = 'YYYY-MM-DD HH:MM'.length

/**
 * Keeps what was wrong and when, for it stays when later deliveries are taken. The history of the source has each of them:
 * of those that are alike, one a minute.
 * @param name the reference, or what the sender calls the event
 */
async function keepProblem(
  context: RequestContext,
  id: number,
  name: string,
  message: string,
): Promise<void> {
  const named = name.slice(0, MAX_NAME).toWellFormed()
  // Quoted, it has no control characters.
  const subject = named === '' ? '' : `${JSON.stringify(named)}: `
  const time = ` (${formatTime(now()).slice(0, MINUTE)} UTC)`
  const problem = (subject + message).slice(0, MAX_PROBLEM - time.length) + time
  await write(context, async tx => {
    const settings = await context.settings.current()
    const before = await store.sources.lock(tx, id)
    if (!before || before.problem === problem) return
    const after = await store.sources.update(tx, before, { problem, updated_at: now() })
    tx.log('source.edit', id, {
      before: source.logged(before, settings),
      after: source.logged(after, settings),
    })
  })
}

/**
 * How a sample would be read; nothing is stored.
 * @throws Failure no_source
 */
export async function tryOut(context: Context, id: number, payload: unknown): Promise<Delivery> {
  const found = existing(source, await store.sourceWithSecret(context.database.reader, id))
  return senders[found.type].read(payload, found, noReports(context, found.context), {})
}

/** Who may set up a source need not be allowed to read what was sold. */
const noReports = (context: Context, shop: string): Reports => ({
  of: async () => [],
  otherSourceOf: async () => undefined,
  currencyUnsaid: sent => currencyUnsaid(context, shop, sent),
})

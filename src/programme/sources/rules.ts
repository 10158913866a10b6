/** What is true of sources: a delivery is read only when its signature is right, and what it says is reported like anything else. */
import { entryOf, Failure } from '../../base/errors.ts'
import { now } from '../../base/time.ts'
import { type Context, type RequestContext, write } from '../../events/write.ts'
import { existing, plainRules } from '../../records/rules.ts'
import { create, isDisputed, join } from '../conversions/rules.ts'
import type { CreateArguments } from '../conversions/schema.ts'
import { type Mapping, readGeneric } from './generic.ts'
import type { Delivery } from './report.ts'
import { type Headers, isSigned } from './signatures.ts'
import { type Source, source } from './source.ts'
import * as store from './store.ts'
import { readStripe } from './stripe.ts'
import { readWooCommerce } from './woocommerce.ts'

/** That a secret was replaced is told by its date, since it is not told itself. */
const dating: typeof store.sources = {
  ...store.sources,
  update: (tx, id, change) =>
    store.sources.update(tx, id, { ...change, ...(change.secret !== undefined && { secret_at: now() }) }),
}

export const rules = plainRules(source, dating)

export interface Delivered {
  readonly headers: Headers
  readonly body: Buffer
  /** @throws Failure invalid_json */
  parse(body: Buffer): unknown
  /** What may be sent as a conversion. @throws Failure invalid_argument, missing_argument */
  argumentsOf(sent: object): CreateArguments
}

/** A sender that asks whether anybody listens. */
const PING = /^webhook_id=\d{1,20}$/

/** What became of one conversion of a delivery. */
type Result =
  | { readonly status: number; readonly conversion_id: number }
  | { readonly status: number; readonly code: string; readonly message: string }

export interface Taken {
  readonly results: readonly Result[]
  /** Why nothing follows from it, where nothing does. */
  readonly ignored?: string
}

/**
 * Takes a delivery. What can't be kept, however often it is sent, is said in the answer and with the source, and is no failure: the
 * sender would send it over and over.
 * @throws Failure wrong_signature, invalid_json
 */
export async function deliver(
  context: RequestContext,
  id: number,
  { headers, body, parse, argumentsOf }: Delivered,
): Promise<Taken> {
  const found = await store.sourceWithSecret(context.database.reader, id)
  const isPing = found?.type === 'woocommerce' && PING.test(body.toString('latin1', 0, 40))
  if (isPing) return { results: [], ignored: 'It only asks whether anybody listens.' }
  if (found?.status !== 'active' || !isSigned(found, headers, body, now())) {
    throw new Failure('wrong_signature')
  }
  const { conversions, names = [], ignored } = read(found, parse(body))
  const results: Result[] = []
  if (names.length > 1) await join(context, found.context, names)
  for (const { onlyIfDisputed, ...one } of conversions) {
    if (onlyIfDisputed && !(await isDisputed(context, found.context, one.reference))) continue
    results.push(await report(context, id, () => argumentsOf({ ...one, context: found.context })))
  }
  const refused = results.find(result => 'message' in result)
  if (refused) await keepProblem(context, id, refused.message)
  return { results, ...(ignored !== undefined && { ignored }) }
}

/** What a payload says, by the source's type. */
function read(
  { type, mapping, mode }: Pick<Source, 'type' | 'mapping' | 'mode'>,
  payload: unknown,
): Delivery {
  if (type === 'stripe') return readStripe(payload, mode)
  return type === 'woocommerce'
    ? readWooCommerce(payload)
    : readGeneric(payload, JSON.parse(mapping) as Mapping)
}

async function report(
  context: RequestContext,
  sourceId: number,
  read: () => CreateArguments,
): Promise<Result> {
  try {
    const { conversion, replayed } = await create(context, read(), sourceId)
    return { status: replayed ? 200 : 201, conversion_id: conversion.id }
  } catch (failure) {
    if (!(failure instanceof Failure)) throw failure
    const { status, code } = entryOf(failure.failure)
    return { status, code, message: failure.message }
  }
}

const MAX_PROBLEM = 500

async function keepProblem(context: RequestContext, id: number, message: string): Promise<void> {
  const problem = message.slice(0, MAX_PROBLEM)
  await write(context, async tx => {
    const settings = await context.settings.current()
    const before = await store.sources.hold(tx, id)
    if (!before || before.problem === problem) return
    const after = await store.sources.update(tx, id, { problem, updated_at: now() })
    tx.log('source.edit', id, {
      before: source.logged(before, settings),
      after: source.logged(after, settings),
    })
  })
}

/**
 * What a sample would be read as; nothing is kept.
 * @throws Failure no_source
 */
export async function tryOut({ database }: Context, id: number, payload: unknown): Promise<Delivery> {
  return read(existing(source, await store.sourceWithSecret(database.reader, id)), payload)
}

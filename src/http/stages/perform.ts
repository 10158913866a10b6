/**
 * Performs the endpoint. A write runs in one transaction: once, if the request has an Idempotency-Key, and only on an
 * unchanged record, if it has If-Match.
 */
import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Actor } from '../../base/actor.ts'
import type { Context } from '../../events/write.ts'
import type { Database, Tx } from '../../storage/database.ts'
import { GuardedDatabase } from '../../storage/guarded.ts'
import { isLate } from '../allowed.ts'
import { HttpCall, steadySettings } from '../call.ts'
import type { Answer, Endpoint, Resource } from '../endpoint.ts'
import { fingerprintOf, once, ownerOf, readIdempotencyKey } from '../idempotency.ts'
import type { Load } from '../limits/load.ts'
import { Reading } from '../limits/reading.ts'
import { performLines } from '../lines.ts'
import { LINES_TYPE } from '../parameters.ts'
import { answersRecord, derivedFields, entityTag, refuseChanged, showing } from '../preconditions.ts'
import { tooLong } from '../too-long.ts'
import type { Admission } from './admit.ts'

/** Checks inside the write's transaction; `after` repeats them if the request has taken long. */
export interface Guards {
  readonly before?: (tx: Tx, actor: Actor) => Promise<void>
  readonly after?: (tx: Tx, actor: Actor) => Promise<void>
}

export interface Performing {
  readonly context: Context
  readonly base: string
  readonly load: Load
  readonly guards: Guards
  readonly chargeRead?: Admission['chargeRead']
}

type Perform = (request: FastifyRequest, reply: FastifyReply) => Promise<Answer>

/** @returns a function that throws the failures of the rules, and 409 and 412 */
export function perform(resource: Resource, endpoint: Endpoint, options: Performing): Perform {
  const { load } = options
  const act = endpoint.methods.includes('GET')
    ? reader(resource, endpoint, options)
    : writer(resource, endpoint, options)
  const isTagged = answersRecord(endpoint)
  const derived = derivedFields(resource)

  return async (request, reply) => {
    const end = endpoint.hashes ? load.hash() : load.begin(request.actor!.name)
    try {
      const answer = await act(request, reply)
      if (!isTagged || typeof answer.body !== 'string') return answer
      return { ...answer, headers: { ...answer.headers, ETag: entityTag(answer.body, derived) } }
    } finally {
      end()
    }
  }
}

function reader(
  resource: Resource,
  endpoint: Endpoint,
  { context, base, load, chargeRead }: Performing,
): Perform {
  const charge = (request: FastifyRequest) => (readMs: number) => chargeRead?.(request, readMs)
  return async (request, reply) => {
    request.reading = new Reading(request, reply, load, charge(request))
    const call = new HttpCall(context, request, resource, base)
    try {
      return await endpoint.handle(endpoint.quick ? call : call.patient, request.args)
    } catch (error) {
      throw tooLong(error, endpoint, request.args!)
    }
  }
}

function writer(resource: Resource, endpoint: Endpoint, { context, base, guards }: Performing): Perform {
  const show = showing(resource, endpoint)
  const derived = derivedFields(resource)

  const write = async (request: FastifyRequest, database: GuardedDatabase) => {
    const { headers } = request
    const args = request.args!
    const settings = await steadySettings(context.settings)
    const call = new HttpCall({ ...context, database, settings }, request, resource, base)
    const key = keyIn(request, resource, endpoint)
    if (request.lines !== null) return answerLines(request, { call, database, endpoint, key })
    const condition = show && headers['if-match']
    const prepared = await endpoint.prepare?.(call, args)
    const rule = (by: HttpCall) => endpoint.handle(by, args, prepared)
    if (key === undefined && condition === undefined) return rule(call)

    const unchanged = async (inside: HttpCall) => {
      if (condition !== undefined) await refuseChanged(inside, show!, args, condition, derived)
      return rule(inside)
    }
    return database.transaction(
      async tx => {
        const inside = call.within(tx)
        // Locked before anything is read, so that it stays unchanged until the end.
        if (condition !== undefined) await inside.settings.lock(tx)
        if (key === undefined) return unchanged(inside)
        const fingerprint = fingerprintOf(request.method, endpoint.path, args)
        return once(tx, { owner: ownerOf(call.actor), key, fingerprint }, () => unchanged(inside))
      },
      condition === undefined ? undefined : 'steady',
    )
  }

  return async (request, reply) => {
    const { actor, log, id } = request
    const database = new GuardedDatabase(context.database, {
      before: tx => guards.before?.(tx, actor!),
      after: tx => (isLate(reply) ? guards.after?.(tx, actor!) : undefined),
      reportDefect: err =>
        log.warn(
          { id, path: endpoint.path, err },
          'requests could not be done together: each is done by itself',
        ),
    })
    try {
      return await write(request, database)
    } catch (error) {
      throw database.asReported(error)
    }
  }
}

interface WithLines {
  readonly call: HttpCall
  readonly database: Database
  readonly endpoint: Endpoint
  readonly key: string | undefined
}

/** Processes the first lines before the answer begins, so that a failure of the whole request gets its own status. */
async function answerLines(
  request: FastifyRequest,
  { call, database, endpoint, key }: WithLines,
): Promise<Answer> {
  const { method, lines, log, id } = request
  const fingerprint = key === undefined ? '' : fingerprintOf(method, endpoint.path, { lines })
  const { replayed, results } = await performLines(lines!, {
    call,
    database,
    lines: endpoint.lines!,
    named: key === undefined ? undefined : { owner: ownerOf(call.actor), key, fingerprint },
    report: err => log.error({ id, err }, 'request failed'),
  })
  return {
    status: 200,
    headers: { 'Content-Type': LINES_TYPE, ...(replayed && { 'Idempotent-Replayed': 'true' }) },
    body: results,
  }
}

/** @throws Failure invalid_argument */
function keyIn(
  { headers, raw }: FastifyRequest,
  { replayed = false }: Resource,
  { inParts }: Endpoint,
): string | undefined {
  if (headers['idempotency-key'] === undefined) return undefined
  // Node joins repeated headers. Separating them is slow, so it is done only if there is one.
  return readIdempotencyKey(raw.headersDistinct['idempotency-key'], { replayed, inParts })
}

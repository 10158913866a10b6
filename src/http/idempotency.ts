/**
 * Requests that may be sent again without being done again. A caller names a write by an Idempotency-Key of its own;
 * the first answer is kept in the transaction of the write, so there is never an effect without its answer, and is
 * replayed to whoever sends the same request under the same key within a day. Two that come at once: the second
 * waits for the first and gets its answer. A failure takes the transaction back and nothing is kept, so that a
 * request that was refused may be mended and sent again under its key.
 * See docs/decisions/idempotency.md.
 */
import { hash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Actor } from '../base/actor.ts'
import { Failure, invalidArguments } from '../base/errors.ts'
import { now } from '../base/time.ts'
import type { Tx } from '../storage/database.ts'
import type { Answer } from './endpoint.ts'
import * as store from './idempotency-store.ts'

const KEPT_SECONDS = 24 * 3600
const REMOVED_AT_ONCE = 500
/** Characters of long answers that are stored for one caller. */
const LONG_STORED = 32 * 1024 * 1024
const RETRY_AFTER_SECONDS = 3600

export interface NamedWrite {
  /** Whose key it is: two callers may choose the same. */
  readonly owner: string
  readonly key: string
  readonly fingerprint: string
}

/**
 * @returns the key that the header names, if it was sent
 * @throws Failure invalid_argument
 */
export function readIdempotencyKey(
  header: readonly string[] | undefined,
  { replayed, inParts }: { readonly replayed?: boolean; readonly inParts?: boolean | undefined },
): string | undefined {
  if (header === undefined) return undefined
  if (inParts) {
    throw invalidArguments({
      'Idempotency-Key': 'must be left out here: sent again, the request does what is left to do.',
    })
  }
  if (!replayed) {
    throw invalidArguments({
      'Idempotency-Key': 'must be left out here: what is secret in this exchange would have to be kept.',
    })
  }
  const [key, another] = header
  if (another !== undefined || !/^[\x20-\x7e]{1,255}$/.test(key!)) {
    throw invalidArguments({
      'Idempotency-Key': 'must be sent once, as 1 to 255 printable ASCII characters.',
    })
  }
  return key
}

/** Whose a key is. Of who has logged in it is the account's, whose login may be another's one day. */
export function ownerOf({ kind, userId, name }: Actor): string {
  return kind === 'session' ? `account ${userId}` : name
}

/** Tells requests apart: alike whatever way and order the arguments were sent in. */
export function fingerprintOf(method: string, path: string, args: Record<string, unknown>): string {
  const sorted = Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1))
  return hash('sha256', JSON.stringify([method, path, sorted]), 'hex')
}

/** An answer that can be stored. */
interface TextAnswer extends Answer {
  readonly body: string
}

/**
 * Does the work unless it was done, and keeps its answer.
 * @throws Failure idempotency_mismatch when the key named another request, too_many_answers
 */
export async function once(
  tx: Tx,
  { owner, key, fingerprint }: NamedWrite,
  work: () => Promise<Answer>,
): Promise<TextAnswer> {
  const time = now()
  const row = { owner, key, fingerprint, status: 0, location: '', body: '', created_at: time }
  if (!(await store.claim(tx, row, time - KEPT_SECONDS))) {
    return replay(await store.findAnswer(tx, owner, key), fingerprint)
  }
  const answer = await work()
  const { status, headers, body } = answer
  if (typeof body !== 'string') throw new TypeError('A write answers with one text.')
  if (body.length > store.LONG_ANSWER && (await store.longStored(tx, owner)) + body.length > LONG_STORED) {
    throw new Failure('too_many_answers', { data: { retry_after: RETRY_AFTER_SECONDS } })
  }
  await store.storeAnswer(tx, owner, key, { status, location: headers?.Location ?? '', body })
  return { ...answer, body }
}

export interface Part {
  readonly text: string
  /** It was done before. */
  readonly replayed: boolean
}

/**
 * The same of a part of what a request asks for. The first is known by the key itself, so that another request under it is
 * refused.
 * @throws Failure idempotency_mismatch, too_many_answers
 */
export async function partOnce(
  tx: Tx,
  named: NamedWrite,
  number: number,
  work: () => Promise<string>,
): Promise<Part> {
  // No key of a caller has a line break.
  const key = number === 0 ? named.key : `${named.key}\n${number}`
  let newText: string | undefined
  const { body } = await once(tx, { ...named, key }, async () => {
    newText = await work()
    return { status: 200, body: deflateRawSync(newText, { level: 1 }).toString('base64') }
  })
  if (newText !== undefined) return { text: newText, replayed: false }
  return { text: inflateRawSync(Buffer.from(body, 'base64')).toString(), replayed: true }
}

function replay(stored: store.StoredAnswer, fingerprint: string): TextAnswer {
  if (stored.fingerprint !== fingerprint) throw new Failure('idempotency_mismatch')
  return {
    status: stored.status === 201 ? 201 : 200,
    headers: { 'Idempotent-Replayed': 'true', ...(stored.location && { Location: stored.location }) },
    body: stored.body,
  }
}

/** @returns whether there may be more */
export async function removeOldAnswers(tx: Tx): Promise<boolean> {
  return (await store.removeExpired(tx, now() - KEPT_SECONDS, REMOVED_AT_ONCE)) === REMOVED_AT_ONCE
}

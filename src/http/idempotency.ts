/**
 * Idempotent retries. A caller names a write by an Idempotency-Key of its choice; the first answer is stored in the
 * write's transaction, so that effect and answer exist together or not at all, and is replayed for the same request under
 * the same key within a day. Of two concurrent requests, the second waits for the first and gets its answer. A failure
 * rolls back and stores nothing, so that a refused request can be corrected and sent again under its key.
 * See docs/decisions/idempotency.md.
 */
import { hash } from 'node:crypto'
import { deflateRawSync, inflateRawSync } from 'node:zlib'
import type { Actor } from '../base/actor.ts'
import { isClockDoubtful } from '../base/clock-watch.ts'
import { entryOf, Failure, invalidArguments } from '../base/errors.ts'
import { orderedJson } from '../base/json.ts'
import { now } from '../base/time.ts'
import type { Tx } from '../storage/database.ts'
import type { Answer } from './endpoint.ts'
import * as store from './idempotency-store.ts'

const KEPT_SECONDS = 24 * 3600
const REMOVED_AT_ONCE = 500
/** Total length, in characters, of the long answers stored per caller. */
const LONG_STORED = 32 * 1024 * 1024
const RETRY_AFTER_SECONDS = 3600
const UNPACKED_AT_ONCE = 50
/** Status of a stored answer that was erased. */
const ERASED = entryOf('answer_erased').status

export interface NamedWrite {
  /** Namespace of the key: two callers may choose the same. */
  readonly owner: string
  readonly key: string
  readonly fingerprint: string
}

/**
 * @returns the header's key, if it was sent
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

/** Owner of a key. For sessions it is the account's identifier, since a login name may pass to another account. */
export function ownerOf({ kind, userId, name }: Actor): string {
  return kind === 'session' ? `account ${userId}` : name
}

/** Fingerprint of a request, independent of the notation and order of its arguments. */
export function fingerprintOf(method: string, path: string, args: Record<string, unknown>): string {
  // A list, as in the fingerprints that are stored already.
  const sorted = Object.entries(args).sort(([a], [b]) => (a < b ? -1 : 1))
  return hash('sha256', orderedJson([method, path, sorted]), 'hex')
}

/** An answer that can be stored. */
interface TextAnswer extends Answer {
  readonly body: string
}

/**
 * Does the work unless it was done before, and stores its answer.
 * @throws Failure idempotency_mismatch when the key belongs to another request, answer_erased, too_many_answers
 */
export async function once(
  tx: Tx,
  { owner, key, fingerprint }: NamedWrite,
  work: () => Promise<Answer>,
): Promise<TextAnswer> {
  const row = { owner, key, fingerprint, status: 0, location: '', body: '', created_at: now() }
  if (!(await store.claim(tx, row))) {
    const stored = await store.findAnswer(tx, owner, key)
    // A request must not be carried out twice because the clock was set ahead between its repetitions.
    if (stored.created_at >= now() - KEPT_SECONDS || isClockDoubtful()) return replay(stored, fingerprint)
    await store.storeAnswer(tx, owner, key, row)
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
  /** Whether the answer is a stored one. */
  readonly replayed: boolean
}

interface PartWork {
  /** Does all of it. */
  whole(): Promise<string>
  /** Does again what the stored answer says has failed unexpectedly; undefined where nothing has. */
  again(stored: string): Promise<string | undefined>
}

/**
 * The same for one part of a request. The first part is stored under the key itself, so that another request under it is
 * refused. Here, too, an unexpected failure is no answer to keep: what met one is done again by a retry.
 * @throws Failure idempotency_mismatch, answer_erased, too_many_answers
 */
export async function partOnce(tx: Tx, named: NamedWrite, number: number, work: PartWork): Promise<Part> {
  // Callers' keys never contain a line break.
  const key = number === 0 ? named.key : `${named.key}\n${number}`
  let newText: string | undefined
  const { body } = await once(tx, { ...named, key }, async () => {
    newText = await work.whole()
    return { status: 200, body: packed(newText) }
  })
  if (newText !== undefined) return { text: newText, replayed: false }
  const stored = unpacked(body)
  const text = await work.again(stored)
  if (text === undefined) return { text: stored, replayed: true }
  await store.storeAnswer(tx, named.owner, key, { status: 200, location: '', body: packed(text) })
  return { text, replayed: true }
}

const packed = (text: string) => deflateRawSync(text, { level: 1 }).toString('base64')
const unpacked = (body: string) => inflateRawSync(Buffer.from(body, 'base64')).toString()

function replay(stored: store.StoredAnswer, fingerprint: string): TextAnswer {
  if (stored.fingerprint !== fingerprint) throw new Failure('idempotency_mismatch')
  if (stored.status === ERASED) throw new Failure('answer_erased')
  return {
    status: stored.status === 201 ? 201 : 200,
    headers: { 'Idempotent-Replayed': 'true', ...(stored.location && { Location: stored.location }) },
    body: stored.body,
  }
}

/**
 * Erases stored answers that contain one of these texts. What was requested is not done again by a retry: it would bring
 * back what was erased.
 * @param texts such as a person's identifier as an answer has it
 * @param redact removes what contains them from the text of a part
 */
export async function eraseAnswers(
  tx: Tx,
  texts: readonly string[],
  redact: (part: string) => string,
): Promise<void> {
  await store.replaceContaining(tx, texts, { status: ERASED, location: '', body: '' })
  let last = { owner: '', key: '' }
  for (;;) {
    const answers = await store.packedAfter(tx, last, UNPACKED_AT_ONCE)
    for (const { owner, key, status, location, body } of answers) {
      const text = unpacked(body)
      const rest = redact(text)
      if (rest !== text) await store.storeAnswer(tx, owner, key, { status, location, body: packed(rest) })
    }
    if (answers.length < UNPACKED_AT_ONCE) return
    last = answers.at(-1)!
  }
}

/** @returns whether there may be more */
export async function removeOldAnswers(tx: Tx): Promise<boolean> {
  return (await store.removeExpired(tx, now() - KEPT_SECONDS, REMOVED_AT_ONCE)) === REMOVED_AT_ONCE
}

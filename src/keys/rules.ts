/**
 * API keys. A key is a pair: a public part that names it for ever, and a token that is shown once. The token holds
 * 256 random bits, so its plain SHA-256 is all that needs to be kept, and is what it is looked up by.
 */
import { hash, randomBytes } from 'node:crypto'
import type { Actor } from '../context.ts'
import { type Problems, refuseInvalid } from '../errors.ts'
import { now, parseMoment } from '../fields.ts'
import type { Database } from '../storage/database.ts'
import type { KeyArguments } from './schema.ts'
import * as store from './store.ts'

/** Secret scanners find a token by this beginning. */
export const TOKEN_PREFIX = 'affiliated_sk_'
const PUBLIC_PREFIX = 'affiliated_pk_'

export interface NewKey {
  readonly key: store.ApiKey
  /** Can't be had again. */
  readonly token: string
}

/**
 * @param known every permission there is
 * @throws Failure invalid_argument
 */
export async function createKey(
  database: Database,
  userId: number,
  args: KeyArguments,
  known: readonly string[],
): Promise<NewKey> {
  const problems: Problems = {}
  const unknown = args.permissions.filter(permission => !known.includes(permission))
  if (args.name.trim() === '') problems.name = 'must not be empty.'
  if (unknown.length > 0 || args.permissions.length === 0) {
    problems.permissions = `must be some of: ${known.join(', ')}.`
  }
  const expiresAt = args.expires === undefined ? null : parseMoment(args.expires)!.last
  refuseInvalid(problems)

  const token = TOKEN_PREFIX + randomBytes(32).toString('base64url')
  const publicKey = PUBLIC_PREFIX + randomBytes(12).toString('hex')
  const key = await database.transaction(async tx => {
    await store.insertKey(tx, {
      public_key: publicKey,
      token_hash: hashToken(token),
      user_id: userId,
      name: args.name,
      permissions: known.filter(permission => args.permissions.includes(permission)).join(','),
      created_at: now(),
      last_used_at: null,
      expires_at: expiresAt,
      revoked_at: null,
    })
    return (await store.findKey(tx, publicKey))!
  })
  return { key, token }
}

/** @returns the key, or undefined when there is none with this public part */
export async function revokeKey(database: Database, publicKey: string): Promise<store.ApiKey | undefined> {
  return database.transaction(async tx => {
    const key = await store.findKey(tx, publicKey)
    if (!key || key.revoked_at !== null) return key
    await store.setRevoked(tx, key.id, now())
    return store.findKey(tx, publicKey)
  })
}

export type KeyStatus = 'active' | 'expired' | 'revoked'

export function statusOf(key: Pick<store.ApiKey, 'revoked_at' | 'expires_at'>): KeyStatus {
  if (key.revoked_at !== null) return 'revoked'
  return key.expires_at !== null && key.expires_at < now() ? 'expired' : 'active'
}

/** How old what is known of a key may be that another process has changed: well below the second that is promised. */
const MAX_AGE_MS = 500
const KEYS_KEPT = 10_000
const LAST_USE_EVERY_SECONDS = 60

/** The keys that requests carry, by the hash of their token. Looks again at a key twice a second while it is used. */
export class KeyRing {
  readonly #database: Database
  readonly #known = new Map<string, { key: store.ApiKey; actor: Actor; readAt: number }>()
  readonly #lastUses = new Set<Promise<void>>()

  constructor(database: Database) {
    this.#database = database
  }

  /** @returns who acts with this token, when its key works at this moment */
  async find(token: string): Promise<Actor | undefined> {
    if (!token.startsWith(TOKEN_PREFIX)) return undefined
    const tokenHash = hashToken(token)
    let known = this.#known.get(tokenHash)
    if (!known || Date.now() - known.readAt > MAX_AGE_MS) {
      const readAt = Date.now()
      const key = await store.findKeyByTokenHash(this.#database.reader, tokenHash)
      this.#known.delete(tokenHash)
      if (!key) return undefined
      known = { key, actor: actorOf(key), readAt }
      if (this.#known.size >= KEYS_KEPT) this.#known.delete(this.#known.keys().next().value!)
      this.#known.set(tokenHash, known)
    }
    if (statusOf(known.key) !== 'active') return undefined
    this.#use(known)
    return known.actor
  }

  /** What this process has changed counts at once. */
  forget(): void {
    this.#known.clear()
  }

  /** Resolves once every last use is written. */
  async close(): Promise<void> {
    await Promise.all(this.#lastUses)
  }

  /** Notes the use, at most once a minute, without keeping the request waiting. */
  #use(known: { key: store.ApiKey }): void {
    const { id, last_used_at: before } = known.key
    const time = now()
    if (before !== null && time - before < LAST_USE_EVERY_SECONDS) return
    known.key = { ...known.key, last_used_at: time }
    const written = this.#database
      .transaction(tx => store.setLastUsed(tx, id, time))
      // The next use tries again; a request must not fail because of it.
      .catch(() => {})
      .finally(() => this.#lastUses.delete(written))
    this.#lastUses.add(written)
  }
}

function actorOf(key: store.ApiKey): Actor {
  return { userId: key.user_id, permissions: new Set(key.permissions.split(',')), name: key.public_key }
}

export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}

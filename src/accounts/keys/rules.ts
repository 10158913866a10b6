/**
 * API keys. A key is a pair: a public part that names it for ever, and a token that is shown once.
 * See docs/decisions/keys-and-passwords.md.
 */
import { randomBytes } from 'node:crypto'
import type { Actor } from '../../base/actor.ts'
import { Failure, type Problems, refuseInvalid } from '../../base/errors.ts'
import { foldAccents, parseSearch } from '../../base/text.ts'
import { formatTime, now, parseMoment } from '../../base/time.ts'
import { type Context, type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { noSuch } from '../../records/store.ts'
import type { Database, Tx } from '../../storage/database.ts'
import { type Page, wholeList } from '../../storage/page.ts'
import { hashToken, newToken } from '../tokens.ts'
import { leftTo } from '../users/roles.ts'
import { lockUser, type User } from '../users/store.ts'
import type { CreateArguments, FilterArguments, KeyArguments, KeyRecord, statuses } from './schema.ts'
import * as store from './store.ts'

/** The prefix by which secret scanners recognise a token. */
const TOKEN_PREFIX = 'affiliated_sk_'
const PUBLIC_PREFIX = 'affiliated_pk_'

export interface NewKey {
  readonly key: store.KeyRow
  /** Shown once, never stored. */
  readonly token: string
}

/**
 * @param allPermissions every permission there is
 * @throws Failure invalid_argument
 */
export async function createKey(
  context: RequestContext,
  args: CreateArguments,
  allPermissions: readonly string[],
): Promise<NewKey> {
  refuseInvalid(problemsOfKey(args, allPermissions))
  const expiresAt = args.expires === undefined ? null : parseMoment(args.expires)!.last
  const token = TOKEN_PREFIX + newToken()
  const publicKey = PUBLIC_PREFIX + randomBytes(12).toString('hex')
  const key = await write(context, async tx => {
    refuseInvalid(problemsOfOwner(await lockAccounts(tx, args.user_id, context), args))
    const id = await store.insertKey(tx, {
      public_key: publicKey,
      token_hash: hashToken(token),
      user_id: args.user_id,
      name: args.name,
      name_key: foldAccents(args.name),
      permissions: allPermissions.filter(permission => args.permissions.includes(permission)).join(','),
      created_at: now(),
      last_used_at: null,
      expires_at: expiresAt,
      revoked_at: null,
    })
    const key = (await store.findKey(tx, id))!
    tx.log('key.create', id, { after: writtenOf(key) })
    return key
  })
  return { key, token }
}

/**
 * Locks the accounts: a lost role or an erasure revokes the owner's keys, and no new one may be created concurrently.
 * @throws Failure session_required
 */
async function lockAccounts(tx: Tx, ownerId: number, { actor }: RequestContext): Promise<User | undefined> {
  let owner: User | undefined
  const isSession = actor.kind === 'session'
  const ids = new Set(isSession ? [ownerId, actor.userId] : [ownerId])
  for (const id of [...ids].sort((a, b) => a - b)) {
    const account = await lockUser(tx, id)
    if (isSession && id === actor.userId && account?.role !== 'administrator') {
      throw new Failure('session_required')
    }
    if (id === ownerId) owner = account
  }
  return owner
}

/** No owner, or permissions that the owner lacks: a key would claim more than it can do. */
function problemsOfOwner(owner: User | undefined, { permissions }: KeyArguments): Problems {
  if (!owner) return { user_id: noSuch('account') }
  const granted = leftTo(owner.role, permissions)
  const excess = permissions.filter(permission => !granted.includes(permission))
  return excess.length === 0
    ? {}
    : { permissions: `the role ${owner.role} of ${owner.login} does not have ${excess.join(', ')}.` }
}

/**
 * Validation beyond the schemas. Arguments that were not sent are not checked.
 * @param allPermissions every permission there is
 */
export function problemsOfKey(
  { name, permissions, expires }: Partial<KeyArguments>,
  allPermissions: readonly string[],
): Problems {
  const problems: Problems = {}
  if (name?.trim() === '') problems.name = 'must not be empty.'
  const unknown = permissions?.filter(permission => !allPermissions.includes(permission)) ?? []
  if (unknown.length > 0 || permissions?.length === 0) {
    const named = unknown.length === 0 ? '' : `, not ${unknown.join(', ')}`
    problems.permissions = `must be some of: ${allPermissions.join(', ')}${named}.`
  }
  const last = expires === undefined ? undefined : parseMoment(expires)?.last
  if (last !== undefined && last < now()) problems.expires = 'must not be in the past.'
  return problems
}

/**
 * Revokes a key for ever. Has no effect on a revoked key.
 * @param name its identifier or its public part
 * @throws Failure no_key
 */
export async function revokeKey(context: RequestContext, name: number | string): Promise<store.KeyRow> {
  return write(context, async tx => {
    const key = await store.lockKey(tx, name)
    if (!key) throw new Failure('no_key')
    if (key.revoked_at !== null) return key
    return revoke(tx, key)
  })
}

/**
 * Rechecks the key inside a write's transaction: it may have been revoked, or its owner demoted, since the request
 * began.
 * @throws Failure unauthenticated, forbidden
 */
export async function refuseRevoked(tx: Tx, { name, permissions }: Actor): Promise<void> {
  const key = await store.findKey(tx, name)
  if (!key || statusOf(key) !== 'active') throw new Failure('unauthenticated')
  if (permissionsOf(key).length < permissions.size) throw new Failure('forbidden')
}

async function revoke(tx: WriteTx, key: store.KeyRow): Promise<store.KeyRow> {
  await store.setRevoked(tx, key.id, now())
  const after = (await store.findKey(tx, key.id))!
  tx.log('key.revoke', key.id, { before: writtenOf(key), after: writtenOf(after) })
  return after
}

/** Revokes all keys of an account, as part of another write. @returns how many were not revoked before */
export async function revokeKeysOf(tx: WriteTx, userId: number): Promise<number> {
  const keys = await store.listKeys(tx, { userIds: [userId] }, wholeList(store.orders.id!))
  const unrevoked = keys.filter(({ revoked_at }) => revoked_at === null)
  for (const key of unrevoked) await revoke(tx, key)
  return unrevoked.length
}

export async function listKeys(
  { database }: Context,
  filters: FilterArguments,
  page: Page,
): Promise<store.KeyRow[]> {
  return store.listKeys(database.reader, criteriaOf(filters), page)
}

export async function countKeys({ database }: Context, filters: FilterArguments): Promise<number> {
  return store.countKeys(database.reader, criteriaOf(filters))
}

/** The record as callers see it. */
export function recordOf(key: store.KeyRow): KeyRecord {
  const time = (seconds: number | null) => (seconds === null ? null : formatTime(seconds))
  return {
    id: key.id,
    public_key: key.public_key,
    name: key.name,
    owner: { id: key.user_id, login: key.owner },
    permissions: [...permissionsOf(key)],
    status: statusOf(key),
    date_created: formatTime(key.created_at),
    last_used: time(key.last_used_at),
    expires: time(key.expires_at),
    revoked: time(key.revoked_at),
  }
}

/** Logged values of a key: all permissions it was given, including those that its owner's role lacks. */
export const writtenOf = (key: store.KeyRow) => ({
  ...recordOf(key),
  permissions: listedPermissions(key),
  owner_id: key.user_id,
})

/** Effective permissions. */
const permissionsOf = ({ permissions, owner_role }: store.OwnedKey): readonly string[] =>
  leftTo(owner_role, listedPermissions({ permissions }))

const listedPermissions = ({ permissions }: Pick<store.ApiKey, 'permissions'>) =>
  permissions === '' ? [] : permissions.split(',')

function statusOf(key: Pick<store.ApiKey, 'revoked_at' | 'expires_at'>): (typeof statuses)[number] {
  if (key.revoked_at !== null) return 'revoked'
  return key.expires_at !== null && key.expires_at < now() ? 'expired' : 'active'
}

function criteriaOf({ user_id, search }: FilterArguments): store.Criteria {
  return { ...(user_id?.length && { userIds: user_id }), ...(search && { search: parseSearch(search) }) }
}

/** Maximum staleness of a cached key that another process has changed: well below the documented second. */
const MAX_AGE_MS = 500
const KEYS_KEPT = 10_000
const LAST_USE_EVERY_SECONDS = 60
/** Batching interval for look-ups of unknown tokens while an address is suspect. */
const GATHERED_FOR_MS = 100
const MOST_GATHERED = 1000

/** Cache of API keys by token hash. A key in use is reloaded twice a second. */
export class KeyRing {
  readonly #database: Database
  readonly #known = new Map<string, { key: store.OwnedKey; actor: Actor; readAt: number }>()
  readonly #lastUses = new Set<Promise<void>>()
  #gathered = new Map<string, PromiseWithResolvers<store.OwnedKey | undefined>>()
  #forgotten = 0

  constructor(database: Database) {
    this.#database = database
  }

  /**
   * @param isSuspect whether many wrong keys have come from this address. If so, unknown tokens are collected and looked
   * up in one query, so that guessing costs little while valid keys are still found
   * @returns the actor, if the key is active
   */
  async find(token: string, isSuspect = () => false): Promise<Actor | undefined> {
    if (!token.startsWith(TOKEN_PREFIX)) return undefined
    const tokenHash = hashToken(token)
    let cached = this.#known.get(tokenHash)
    if (!cached || performance.now() - cached.readAt > MAX_AGE_MS) {
      const readAt = performance.now()
      const forgotten = this.#forgotten
      const key =
        cached === undefined && isSuspect()
          ? await this.#gather(tokenHash)
          : await store.findKeyByTokenHash(this.#database.reader, tokenHash)
      this.#known.delete(tokenHash)
      if (!key) return undefined
      cached = { key, actor: actorOf(key), readAt }
      if (this.#known.size >= KEYS_KEPT) this.#known.delete(this.#known.keys().next().value!)
      // A read that began before this process changed a key must not be cached after the change.
      if (forgotten === this.#forgotten) this.#known.set(tokenHash, cached)
    }
    if (statusOf(cached.key) !== 'active') return undefined
    this.#use(cached)
    return cached.actor
  }

  #gather(tokenHash: string): Promise<store.OwnedKey | undefined> {
    const pending = this.#gathered.get(tokenHash)
    if (pending) return pending.promise
    if (this.#gathered.size >= MOST_GATHERED) return Promise.resolve(undefined)
    if (this.#gathered.size === 0) setTimeout(this.#lookUp, GATHERED_FOR_MS)
    const lookUp = Promise.withResolvers<store.OwnedKey | undefined>()
    this.#gathered.set(tokenHash, lookUp)
    return lookUp.promise
  }

  #lookUp = async () => {
    const gathered = this.#gathered
    this.#gathered = new Map()
    try {
      for (const key of await store.findKeysByTokenHash(this.#database.reader, [...gathered.keys()])) {
        gathered.get(key.token_hash)!.resolve(key)
      }
      for (const { resolve } of gathered.values()) resolve(undefined)
    } catch (error) {
      for (const { reject } of gathered.values()) reject(error)
    }
  }

  /** Must be called when this process has changed a key, so that the change takes effect at once. */
  forget(): void {
    this.#forgotten += 1
    this.#known.clear()
  }

  /** Resolves when the last use of every key is written. */
  async close(): Promise<void> {
    await Promise.all(this.#lastUses)
  }

  /** Records the last use, at most once a minute, without delaying the request. */
  #use(cached: { key: store.OwnedKey }): void {
    const { id, last_used_at: before } = cached.key
    const time = now()
    if (before !== null && time - before < LAST_USE_EVERY_SECONDS) return
    cached.key = { ...cached.key, last_used_at: time }
    const writing = this.#database
      .transaction(tx => store.setLastUsed(tx, id, time))
      // A failure here must not fail the request; the next use tries again.
      .catch(() => {})
      .finally(() => this.#lastUses.delete(writing))
    this.#lastUses.add(writing)
  }
}

function actorOf(key: store.OwnedKey): Actor {
  return {
    kind: 'key',
    userId: key.user_id,
    permissions: new Set(permissionsOf(key)),
    name: key.public_key,
  }
}

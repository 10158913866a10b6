/**
 * API keys. A key is a pair: a public part that names it for ever, and a token that is shown once. The token holds
 * 256 random bits, so its plain SHA-256 is all that needs to be kept, and is what it is looked up by.
 * See docs/decisions/keys-and-passwords.md.
 */
import { hash, randomBytes } from 'node:crypto'
import type { Actor } from '../../base/actor.ts'
import { Failure, invalidArguments, type Problems, refuseInvalid } from '../../base/errors.ts'
import { foldAccents, parseSearch } from '../../base/text.ts'
import { formatTime, now, parseMoment } from '../../base/time.ts'
import { type Context, type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { type Database, ReferenceViolation, type Tx } from '../../storage/database.ts'
import type { Page } from '../../storage/page.ts'
import { leftTo } from '../users/roles.ts'
import { holdUser, type User } from '../users/store.ts'
import type { CreateArguments, FilterArguments, KeyArguments, KeyRecord, statuses } from './schema.ts'
import * as store from './store.ts'

/** Secret scanners find a token by this beginning. */
const TOKEN_PREFIX = 'affiliated_sk_'
const PUBLIC_PREFIX = 'affiliated_pk_'

export interface NewKey {
  readonly key: store.KeyRow
  /** Can't be had again. */
  readonly token: string
}

/**
 * @param known every permission there is
 * @throws Failure invalid_argument
 */
export async function createKey(
  context: RequestContext,
  args: CreateArguments,
  known: readonly string[],
): Promise<NewKey> {
  refuseInvalid(problemsOfKey(args, known))
  const expiresAt = args.expires === undefined ? null : parseMoment(args.expires)!.last
  const token = TOKEN_PREFIX + randomBytes(32).toString('base64url')
  const publicKey = PUBLIC_PREFIX + randomBytes(12).toString('hex')
  const key = await write(context, async tx => {
    refuseInvalid(problemsOfOwner(await holdAccounts(tx, args.user_id, context), args))
    const id = await store
      .insertKey(tx, {
        public_key: publicKey,
        token_hash: hashToken(token),
        user_id: args.user_id,
        name: args.name,
        name_key: foldAccents(args.name),
        permissions: known.filter(permission => args.permissions.includes(permission)).join(','),
        created_at: now(),
        last_used_at: null,
        expires_at: expiresAt,
        revoked_at: null,
      })
      .catch(refuseUnknownOwner)
    const made = (await store.findKey(tx, id))!
    tx.log('key.create', id, { after: writtenOf(made) })
    return made
  })
  return { key, token }
}

/**
 * Who loses the role meanwhile, or is erased, loses the keys that there are: none must be made at the same moment.
 * @throws Failure session_required
 */
async function holdAccounts(tx: Tx, ownerId: number, { actor }: RequestContext): Promise<User | undefined> {
  let owner: User | undefined
  const isSession = actor.kind === 'session'
  const ids = new Set(isSession ? [ownerId, actor.userId] : [ownerId])
  for (const id of [...ids].sort((one, other) => one - other)) {
    const account = await holdUser(tx, id)
    if (isSession && id === actor.userId && account?.role !== 'administrator') {
      throw new Failure('session_required')
    }
    if (id === ownerId) owner = account
  }
  return owner
}

/** A key that can do more than its owner would do less than it says. */
function problemsOfOwner(owner: User | undefined, { permissions }: KeyArguments): Problems {
  if (!owner) return {}
  const left = leftTo(owner.role, permissions)
  const beyond = permissions.filter(permission => !left.includes(permission))
  return beyond.length === 0
    ? {}
    : { permissions: `the role ${owner.role} of ${owner.login} does not have ${beyond.join(', ')}.` }
}

/**
 * What is wrong beyond what the schemas say; arguments that are absent are not spoken of.
 * @param known every permission there is
 */
export function problemsOfKey(
  { name, permissions, expires }: Partial<KeyArguments>,
  known: readonly string[],
): Problems {
  const problems: Problems = {}
  if (name?.trim() === '') problems.name = 'must not be empty.'
  if (permissions && !(permissions.length > 0 && permissions.every(one => known.includes(one)))) {
    problems.permissions = `must be some of: ${known.join(', ')}.`
  }
  const last = expires === undefined ? undefined : parseMoment(expires)?.last
  if (last !== undefined && last < now()) problems.expires = 'must not be in the past.'
  return problems
}

/**
 * Revokes a key for ever; one that is revoked stays as it is.
 * @param which its identifier or its public part
 * @throws Failure no_key
 */
export async function revokeKey(context: RequestContext, which: number | string): Promise<store.KeyRow> {
  return write(context, async tx => {
    const key = await store.holdKey(tx, which)
    if (!key) throw new Failure('no_key')
    if (key.revoked_at !== null) return key
    return revoke(tx, key)
  })
}

/**
 * What a key writes, it writes only while it works: it may have been revoked, or its owner demoted, since the request began.
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

/** Revokes every key of an account that works, in a transaction that does more. */
export async function revokeKeysOf(tx: WriteTx, userId: number): Promise<void> {
  const all = { order: store.orders.id!, descending: false, offset: 0, limit: Number.MAX_SAFE_INTEGER }
  const keys = await store.listKeys(tx, { userIds: [userId] }, all)
  for (const key of keys.filter(({ revoked_at }) => revoked_at === null)) await revoke(tx, key)
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

/** What the audit log is told of: also what the owner's role does not have. */
export const writtenOf = (key: store.KeyRow) => ({
  ...recordOf(key),
  permissions: given(key),
  owner_id: key.user_id,
})

/** What it may do at this moment. */
const permissionsOf = ({ permissions, owner_role }: store.OwnedKey): readonly string[] =>
  leftTo(owner_role, given({ permissions }))

const given = ({ permissions }: Pick<store.ApiKey, 'permissions'>) =>
  permissions === '' ? [] : permissions.split(',')

function statusOf(key: Pick<store.ApiKey, 'revoked_at' | 'expires_at'>): (typeof statuses)[number] {
  if (key.revoked_at !== null) return 'revoked'
  return key.expires_at !== null && key.expires_at < now() ? 'expired' : 'active'
}

function criteriaOf({ user_id, search }: FilterArguments): store.Criteria {
  return { ...(user_id?.length && { userIds: user_id }), ...(search && { search: parseSearch(search) }) }
}

function refuseUnknownOwner(cause: unknown): never {
  if (!(cause instanceof ReferenceViolation)) throw cause
  throw invalidArguments({ user_id: 'must be the identifier of an existing account.' })
}

/** How old what is known of a key may be that another process has changed: well below the second that is promised. */
const MAX_AGE_MS = 500
const KEYS_KEPT = 10_000
const LAST_USE_EVERY_SECONDS = 60
/** How long look-ups wait for one another where too many wrong keys came from, and how many may. */
const GATHERED_FOR_MS = 100
const MOST_GATHERED = 1000

/** The keys that requests carry, by the hash of their token. Looks again at a key twice a second while it is used. */
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
   * @param isSuspect tells of a token that is not known whether many wrong ones came from where it comes from: such
   *   ones wait for one another and are looked up by one query, so that they cost little and a valid one is still found
   * @returns who acts with this token, when its key works at this moment
   */
  async find(token: string, isSuspect = () => false): Promise<Actor | undefined> {
    if (!token.startsWith(TOKEN_PREFIX)) return undefined
    const tokenHash = hashToken(token)
    let known = this.#known.get(tokenHash)
    if (!known || performance.now() - known.readAt > MAX_AGE_MS) {
      const readAt = performance.now()
      const forgotten = this.#forgotten
      const key =
        known === undefined && isSuspect()
          ? await this.#gather(tokenHash)
          : await store.findKeyByTokenHash(this.#database.reader, tokenHash)
      this.#known.delete(tokenHash)
      if (!key) return undefined
      known = { key, actor: actorOf(key), readAt }
      if (this.#known.size >= KEYS_KEPT) this.#known.delete(this.#known.keys().next().value!)
      // What was read before a change of this process must not be kept after it.
      if (forgotten === this.#forgotten) this.#known.set(tokenHash, known)
    }
    if (statusOf(known.key) !== 'active') return undefined
    this.#use(known)
    return known.actor
  }

  #gather(tokenHash: string): Promise<store.OwnedKey | undefined> {
    const waiting = this.#gathered.get(tokenHash)
    if (waiting) return waiting.promise
    if (this.#gathered.size >= MOST_GATHERED) return Promise.resolve(undefined)
    if (this.#gathered.size === 0) setTimeout(this.#lookUp, GATHERED_FOR_MS)
    const one = Promise.withResolvers<store.OwnedKey | undefined>()
    this.#gathered.set(tokenHash, one)
    return one.promise
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

  /** What this process has changed counts at once. */
  forget(): void {
    this.#forgotten += 1
    this.#known.clear()
  }

  /** Resolves once every last use is written. */
  async close(): Promise<void> {
    await Promise.all(this.#lastUses)
  }

  /** Notes the use, at most once a minute, without keeping the request waiting. */
  #use(known: { key: store.OwnedKey }): void {
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

function actorOf(key: store.OwnedKey): Actor {
  return {
    kind: 'key',
    userId: key.user_id,
    permissions: new Set(permissionsOf(key)),
    name: key.public_key,
  }
}

export function hashToken(token: string): string {
  return hash('sha256', token, 'hex')
}

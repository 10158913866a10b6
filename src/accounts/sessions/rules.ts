/**
 * Sessions of the administration area. A session is a token in a cookie, of which only the hash is stored. It expires
 * twelve hours after its last use, and after thirty days at most. A browser that has logged in is remembered for a year,
 * in the same way, so that its attempts can be distinguished from those of strangers; see `attempts.ts`.
 * See docs/decisions/sessions.md.
 */
import type { Actor } from '../../base/actor.ts'
import { Failure, invalidArguments, refuseInvalid } from '../../base/errors.ts'
import { withoutHost } from '../../base/network.ts'
import { formatTime, now } from '../../base/time.ts'
import { type Context, type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { anyLogin, noteFirstLogin } from '../../settings/store.ts'
import type { Database, Db, Tx } from '../../storage/database.ts'
import { takeCode } from '../second-factor/codes.ts'
import { findFactor } from '../second-factor/store.ts'
import { hashToken, newToken } from '../tokens.ts'
import { hashPassword, passwordMatches, passwordProblem } from '../users/password.ts'
import type { Role } from '../users/roles.ts'
import { canLogIn, findByName, forgetBrowsers, setPassword } from '../users/rules.ts'
import { findUser, lockUser, type User } from '../users/store.ts'
import {
  type Counter,
  countAttempt,
  ofAccount,
  ofCodes,
  ofDevice,
  ofStranger,
  unlessRefused,
} from './attempts.ts'
import { browserOf } from './browser.ts'
import type { LoginArguments, OpenSession, PasswordArguments, SessionRecord } from './schema.ts'
import * as store from './store.ts'

const SESSION_SECONDS = 12 * 3600
const LONGEST_SESSION_SECONDS = 30 * 24 * 3600
const EXTENDED_EVERY_SECONDS = 60
export const DEVICE_SECONDS = 365 * 24 * 3600
const DEVICES_KEPT = 20

/** Sent by the browser along with a log-in. */
interface Presented {
  /** Device token, if it has one. */
  readonly presented: string | undefined
  /** User-Agent header. */
  readonly userAgent: string | undefined
}

/** A session with its identifier and the device token, neither of which can be read again. */
interface LoggedIn {
  readonly token: string
  readonly device: string
  readonly record: SessionRecord
}

/** @throws Failure wrong_login, no_role, second_factor_required, wrong_code, too_many_requests */
export async function logIn(
  context: RequestContext,
  { login, password, code }: LoginArguments,
  { presented, userAgent }: Presented,
): Promise<LoggedIn> {
  const { database } = context
  const { reader } = database
  const accounts = await findByName(reader, login)
  const user = accounts.find(canLogIn) ?? accounts.find(({ password_hash }) => password_hash !== '')
  const isKnownDevice = presented !== undefined && (await isKnown(reader, presented, user))
  const deviceHash = isKnownDevice ? hashToken(presented) : undefined
  const counters = deviceHash ? ofDevice(deviceHash) : ofStranger(login, context.address)
  const attempt = await countAttempt(database, counters)
  const right = await passwordMatches(password, user?.password_hash ?? '')
  if (!user || !right) {
    await logRefusal(context, user)
    throw new Failure('wrong_login')
  }
  if (!canLogIn(user)) throw new Failure('no_role')
  const device = isKnownDevice ? presented : newToken()
  const tried = { attempt, code, device, deviceHash, userAgent }
  return unlessRefused(attempt, () => openSession(context, user, tried))
}

/** A log-in whose password was right. */
interface Tried {
  readonly attempt: string
  readonly code: string | undefined
  readonly device: string
  /** Of the device, if the browser is known. */
  readonly deviceHash: string | undefined
  readonly userAgent: string | undefined
}

/** @throws Failure wrong_login, second_factor_required, wrong_code, too_many_requests */
async function openSession(
  context: RequestContext,
  user: User,
  { attempt, code, device, deviceHash, userAgent }: Tried,
): Promise<LoggedIn> {
  const { database, address } = context
  const codeAttempt = (await isAsked(database.reader, user.id))
    ? await countCode(database, ofCodes(user.id, deviceHash), code, attempt)
    : undefined
  const token = newToken()
  const time = now()
  const loggedIn = { database, actor: actorOf(user, new Set()), address }
  const open = async (tx: WriteTx) => {
    const current = await lockUser(tx, user.id)
    // The password or role changed while the hash was computed.
    if (!current || !canLogIn(current) || current.password_hash !== user.password_hash) {
      throw new Failure('wrong_login')
    }
    // A second factor was confirmed meanwhile.
    if (codeAttempt === undefined && (await isAsked(tx, user.id))) throw new Failure('second_factor_required')
    if (code !== undefined && codeAttempt !== undefined) {
      if (!(await takeCode(tx, user.id, code))) return false
      await store.removeAttempt(tx, codeAttempt)
    }
    await store.removeAttempt(tx, attempt)
    await noteFirstLogin(tx, time)
    await store.insertSession(tx, {
      token_hash: hashToken(token),
      user_id: user.id,
      created_at: time,
      expires_at: time + SESSION_SECONDS,
      browser: browserOf(userAgent),
      network: withoutHost(address),
    })
    await rememberDevice(tx, user, device, time)
    tx.log('session.create', user.id)
    return true
  }
  const isRight = await unlessRefused(codeAttempt, () => write(loggedIn, open))
  if (!isRight) {
    await logRefusal(context, user)
    throw new Failure('wrong_code')
  }
  return { token, device, record: recordOf(user, time + SESSION_SECONDS) }
}

async function rememberDevice(tx: Tx, { id: user_id }: User, device: string, time: number): Promise<void> {
  const remembered = { token_hash: hashToken(device), user_id, created_at: time }
  await store.rememberDevice(tx, { ...remembered, expires_at: time + DEVICE_SECONDS }, DEVICES_KEPT)
}

/**
 * @returns identifier of the code attempt
 * @throws Failure second_factor_required, too_many_requests
 */
async function countCode(
  database: Database,
  counters: readonly Counter[],
  code: string | undefined,
  attempt: string,
): Promise<string> {
  if (code !== undefined) return countAttempt(database, counters)
  // The password was right: not a failed attempt.
  await database.transaction(tx => store.removeAttempt(tx, attempt))
  throw new Failure('second_factor_required')
}

/** Whether log-in requires a second factor. */
async function isAsked(db: Db, userId: number): Promise<boolean> {
  const factor = await findFactor(db, userId)
  return factor !== undefined && factor.confirmed_at !== null
}

/** Whether the browser has logged in to the account before. Takes equally long whether or not the account exists. */
async function isKnown(db: Db, device: string, user: User | undefined): Promise<boolean> {
  const expiresAt = await store.findDevice(db, hashToken(device), user?.id ?? 0)
  return expiresAt !== undefined && expiresAt >= now()
}

/** Permissions of a role. */
export type Granted = (role: Role) => ReadonlySet<string>

/**
 * Finds and extends a session.
 * @returns undefined if it has expired, or the account may not log in any more
 */
export async function resumeSession(
  database: Database,
  token: string,
  granted: Granted,
): Promise<Actor | undefined> {
  const tokenHash = hashToken(token)
  const time = now()
  const session = await store.findSession(database.reader, tokenHash)
  if (!session || endOf(session) < time || !canLogIn(session.user)) return undefined
  const extended = time + SESSION_SECONDS
  if (extended - session.expiresAt > EXTENDED_EVERY_SECONDS) {
    await database
      .transaction(tx => store.extendSession(tx, tokenHash, extended))
      // A failure to extend must not fail the request; the next use tries again.
      .catch(() => {})
  }
  return { ...actorOf(session.user, granted(session.user.role)), session: tokenHash }
}

/** @returns false: nothing is left to remove */
export async function removeOldSessions(tx: Tx): Promise<boolean> {
  const time = now()
  await store.removeExpiredSessions(tx, time)
  await store.removeExpiredDevices(tx, time)
  return false
}

/** Absolute limit: a stolen cookie must not work for ever, however often it is used. */
function endOf({ createdAt, expiresAt }: Pick<store.Session, 'createdAt' | 'expiresAt'>): number {
  // Opened while the clock was far ahead: it would last for as long as that in addition.
  if (createdAt - now() > SESSION_SECONDS) return 0
  return Math.min(expiresAt, createdAt + LONGEST_SESSION_SECONDS)
}

/**
 * Rechecks the session inside a write's transaction: it may have ended since the request began.
 * @throws Failure session_required
 */
export async function refuseEnded(tx: Tx, { session }: Actor): Promise<void> {
  if (session !== undefined && !(await store.findSession(tx, session))) throw new Failure('session_required')
}

/**
 * Named by the account's identifier: a login is often an e-mail address, which must not get into the service's
 * log.
 */
function actorOf({ id }: User, permissions: ReadonlySet<string>): Actor {
  return { kind: 'session', userId: id, permissions, name: `session of account ${id}` }
}

/** Logs the refusal, without the login that was typed: it may be a password in the wrong field. */
async function logRefusal(context: RequestContext, user: User | undefined): Promise<void> {
  await write(context, async tx => tx.log('session.refuse', user?.id ?? null))
}

/** @throws Failure session_required if it has ended meanwhile */
export async function currentSession({ database, actor }: RequestContext): Promise<SessionRecord> {
  const session = await store.findSession(database.reader, actor.session!)
  if (!session) throw new Failure('session_required')
  return recordOf(session.user, endOf(session))
}

export async function logOut(context: RequestContext): Promise<void> {
  const { session, userId } = context.actor
  await write(context, async tx => {
    await store.endSession(tx, session!)
    tx.log('session.delete', userId)
  })
}

/**
 * Asks for the password again, since someone else may have found an open session.
 * @returns the user's account
 * @throws Failure invalid_argument, too_many_requests
 */
export async function confirmPassword(context: RequestContext, password: string): Promise<User> {
  const { database, actor } = context
  const user = (await findUser(database.reader, actor.userId))!
  const attempt = await countAttempt(database, ofAccount(user.id))
  if (await passwordMatches(password, user.password_hash)) {
    await unlessRefused(attempt, () => database.transaction(tx => store.removeAttempt(tx, attempt)))
    return user
  }
  await logRefusal(context, user)
  throw invalidArguments({ current_password: 'must be the password that the account has now.' })
}

/** The user's sessions, the most recently used first. */
export async function listSessions({ database, actor }: RequestContext): Promise<OpenSession[]> {
  const rows = await store.sessionsOf(database.reader, actor.userId, now())
  return rows
    .filter(row => endOf({ createdAt: row.created_at, expiresAt: row.expires_at }) >= now())
    .map(row => ({
      id: idOf(row.token_hash),
      current: row.token_hash === actor.session,
      browser: row.browser,
      network: row.network,
      started: formatTime(row.created_at),
      last_used: formatTime(row.expires_at - SESSION_SECONDS),
    }))
}

/** Public identifier of a session, hashed once more, since the hash of the token is a secret. */
const idOf = (tokenHash: string) => Number.parseInt(hashToken(tokenHash).slice(0, 12), 16)

/**
 * Ends one of the user's sessions, or all but the current one.
 * @throws Failure no_session
 */
export async function endOwnSessions(context: RequestContext, id?: number): Promise<void> {
  const { session, userId } = context.actor
  await write(context, async tx => {
    if (id === undefined) await store.endSessions(tx, userId, session)
    else {
      const rows = await store.sessionsOf(tx, userId, now())
      const session = rows.find(row => idOf(row.token_hash) === id)
      if (!session) throw new Failure('no_session')
      await store.endSession(tx, session.token_hash)
    }
    tx.log('session.delete', userId)
  })
}

/**
 * Changes the user's password, and ends the account's other sessions.
 * @throws Failure invalid_argument, too_many_requests, session_required
 */
export async function changePassword(
  context: RequestContext,
  { current_password, new_password }: PasswordArguments,
): Promise<void> {
  const { actor } = context
  const problem = await passwordProblem(new_password)
  refuseInvalid(problem ? { new_password: problem } : {})
  const user = await confirmPassword(context, current_password)
  const passwordHash = await hashPassword(new_password)
  await write(context, async tx => {
    const current = await lockUser(tx, user.id)
    await refuseEnded(tx, actor)
    // Hashing takes a while. A password changed meanwhile may have been meant to lock this session out.
    if (current?.password_hash !== user.password_hash) throw new Failure('session_required')
    await setPassword(tx, user.id, passwordHash, actor.session)
    await forgetBrowsers(tx, user)
  })
}

/** Whether anyone has ever logged in to this database. */
export async function everLoggedIn({ database }: Context): Promise<boolean> {
  return anyLogin(database.reader)
}

function recordOf({ id, login, email, display_name, role }: User, expiresAt: number): SessionRecord {
  return { user: { id, login, email, display_name, role }, expires: formatTime(expiresAt) }
}

/** User accounts, which can own keys, be affiliates, or log in. Login and e-mail are unique, ignoring case. */
import type { Origin } from '../../base/actor.ts'
import { Failure, type Problems, refuseInvalid } from '../../base/errors.ts'
import { foldAccents, foldCase } from '../../base/text.ts'
import { formatTime, now } from '../../base/time.ts'
import { type Context, type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { isAlready } from '../../records/rules.ts'
import { type Db, type Tx, throwLostRace, UniqueViolation } from '../../storage/database.ts'
import type { Page } from '../../storage/page.ts'
import { revokeKeysOf } from '../keys/rules.ts'
import { removeRecoveriesOf } from '../recovery/store.ts'
import { forgetAttempts } from '../sessions/attempts.ts'
import { endSessions, removeDevices } from '../sessions/store.ts'
import { criteriaOf } from './criteria.ts'
import { hashPassword, passwordProblem } from './password.ts'
import type { Role } from './roles.ts'
import {
  type EditArguments,
  type FilterArguments,
  MAX_LOGIN_LENGTH,
  type UserArguments,
  type UserRecord,
} from './schema.ts'
import * as store from './store.ts'

const NOT_IN_LOGIN = /[^\p{L}\p{M}\p{N} _.@-]/gu

/** @returns what is wrong with a login name, or undefined */
export function loginProblem(login: string): string | undefined {
  if (login.trim() !== login || login === '')
    return 'must have at least one character, and no space around it.'
  if (login.search(NOT_IN_LOGIN) >= 0) return 'must consist of letters, digits, space and _.-@'
  return undefined
}

/**
 * Creates an account; with a password, it can log in.
 * @throws Failure email_taken, login_taken, invalid_argument
 */
export async function createUser(context: RequestContext, args: UserArguments): Promise<store.User> {
  refuseInvalid(await problemsOfUser(args))
  const passwordHash = args.password === undefined ? '' : await hashPassword(args.password)
  return write(context, async tx => {
    const { id } = await addAccount(tx, args, passwordHash)
    const user = (await store.findUser(tx, id))!
    tx.log('user.create', id, { after: recordOf({ ...user, ...fresh }) })
    return user
  })
}

/**
 * Hashes the password of an edit before its transaction, which would otherwise block other writers.
 * @throws Failure invalid_argument
 */
export async function hashOfEdit(by: Origin, args: EditArguments): Promise<string | undefined> {
  refuseInvalid(await problemsOfEdit(by, args))
  return args.password === undefined ? undefined : hashPassword(args.password)
}

/**
 * Changes what was sent and leaves the rest. A new password or role ends the account's sessions. An account that loses
 * its role loses its API keys; a changed role limits what they may do.
 * @param passwordHash result of `hashOfEdit`
 * @throws Failure no_user, email_taken, last_administrator
 */
export async function editUser(
  context: RequestContext,
  args: EditArguments,
  passwordHash: string | undefined,
): Promise<{ readonly record: UserRecord; readonly revokedKeys: number }> {
  const { user_id: id, email, role } = args
  return write(context, async tx => {
    existing(await store.lockUser(tx, id))
    const before = existing(await store.findUserRow(tx, id))
    await refuseDismissal(tx, before, role)
    if (passwordHash === undefined && isAlready(before, changeOf(before, args))) {
      return { record: recordOf(before), revokedKeys: 0 }
    }
    if (email !== undefined) await writeEmail(tx, before, email)
    await store.updateUser(tx, id, { ...changeOf(before, args), updated_at: now() })
    if (passwordHash !== undefined) await setPassword(tx, id, passwordHash)
    if (role !== undefined && role !== before.role) await endSessions(tx, id)
    // The keys were limited by the role; without one they would not be. A program's account gets new ones.
    const revokedKeys = role === '' && before.role !== '' ? await revokeKeysOf(tx, id) : 0
    const after = existing(await store.findUserRow(tx, id))
    if (passwordHash !== undefined) await forgetBrowsers(tx, after)
    tx.log('user.edit', id, { before: recordOf(before), after: recordOf(after) })
    return { record: recordOf(after), revokedKeys }
  })
}

/** All changes except the password. */
function changeOf(
  before: store.UserRow,
  { first_name, last_name, display_name, email = before.email, role = before.role }: EditArguments,
) {
  const names = { first_name: first_name ?? before.first_name, last_name: last_name ?? before.last_name }
  // A name that was derived follows the names that it was derived from.
  const isOwn = before.display_name !== nameOf({ ...before, display_name: '' })
  const kept = display_name ?? (isOwn ? before.display_name : '')
  const displayName = nameOf({ ...before, ...names, display_name: kept })
  return { ...names, display_name: displayName, display_name_key: foldAccents(displayName), email, role }
}

/**
 * Ends the account's sessions, and revokes a pending reset link.
 * @param keptSession hash of the one session that continues
 */
export async function setPassword(
  tx: WriteTx,
  id: number,
  passwordHash: string,
  keptSession?: string,
): Promise<void> {
  await store.updateUser(tx, id, { password_hash: passwordHash, updated_at: now() })
  await endSessions(tx, id, keptSession)
  await removeRecoveriesOf(tx, id)
  tx.log('user.password', id)
}

/**
 * Password reset by an operator: sets the password, ends the sessions, and forgets failed attempts.
 * @throws Failure invalid_argument
 */
export async function resetPassword(
  context: RequestContext,
  user: store.User,
  password: string,
): Promise<void> {
  refuseInvalid(await problemsOfUser({ password }))
  const passwordHash = await hashPassword(password)
  await write(context, async tx => {
    await setPassword(tx, user.id, passwordHash)
    await forgetBrowsers(tx, user)
  })
}

/** Unlocks the account, and forgets known browsers: whoever knew the old password counts as a stranger from now on. */
export async function forgetBrowsers(tx: Tx, user: store.User): Promise<void> {
  await forgetAttempts(tx, user)
  await removeDevices(tx, user.id)
}

/** @throws Failure no_user */
export async function findAccount({ database }: Context, id: number): Promise<store.UserRow> {
  return existing(await store.findUserRow(database.reader, id))
}

/** @throws Failure no_user */
export async function getUser(context: Context, id: number): Promise<UserRecord> {
  return recordOf(await findAccount(context, id))
}

export async function listUsers(
  { database }: Context,
  filters: FilterArguments,
  page: Page,
): Promise<store.UserRow[]> {
  return store.listUsers(database.reader, await criteriaOf(database, filters, 'first'), page)
}

export async function countUsers({ database }: Context, filters: FilterArguments): Promise<number> {
  return store.countUsers(database.reader, await criteriaOf(database, filters, 'all'))
}

/** Whether the account may log in to the administration area. */
export function canLogIn(user: store.User): boolean {
  return user.role !== '' && user.password_hash !== ''
}

/**
 * Somebody must always be able to log in: call before an account loses that.
 * @throws Failure last_administrator
 */
export async function refuseLastAdministrator(tx: Tx, user: store.User): Promise<void> {
  if (user.role === 'administrator' && canLogIn(user) && !(await store.anyOtherAdministrator(tx, user.id))) {
    throw new Failure('last_administrator')
  }
}

async function refuseDismissal(tx: Tx, user: store.User, role: Role = user.role): Promise<void> {
  if (role !== 'administrator') await refuseLastAdministrator(tx, user)
}

/** Validation beyond the schemas; arguments that were not sent are not checked. */
export async function problemsOfUser({
  login,
  password,
}: Partial<Pick<UserArguments, 'login' | 'password'>>): Promise<Problems> {
  const problems: Problems = {}
  const wrongLogin = login === undefined ? undefined : loginProblem(login)
  if (wrongLogin) problems.login = wrongLogin
  const wrongPassword = password === undefined ? undefined : await passwordProblem(password)
  if (wrongPassword) problems.password = wrongPassword
  return problems
}

/** The same for an edit. Someone who finds an open session must not be able to take over the account. */
export async function problemsOfEdit({ actor }: Origin, args: Partial<EditArguments>): Promise<Problems> {
  const isOwnPassword = args.password !== undefined && args.user_id === actor.userId
  return isOwnPassword
    ? { password: 'is your own: change it under Change password, which asks for the one that you have now.' }
    : problemsOfUser(args)
}

/** Joined values of an account that was just created. */
export const fresh = { affiliate_id: null, second_factor_at: null } as const

/** The record as callers see it. */
export function recordOf(row: store.UserRow): UserRecord {
  return {
    id: row.id,
    login: row.login,
    email: row.email,
    first_name: row.first_name,
    last_name: row.last_name,
    display_name: row.display_name,
    role: row.role,
    affiliate_id: row.affiliate_id,
    date_registered: formatTime(row.registered_at),
    can_log_in: canLogIn(row),
    second_factor: row.second_factor_at !== null,
  }
}

/**
 * Adds an account within a larger transaction.
 * @param args without `login`, one is derived from the e-mail address
 * @throws Failure email_taken, login_taken
 */
export async function addAccount(
  tx: Tx,
  args: Omit<UserArguments, 'login' | 'password'> & { login?: string | undefined },
  passwordHash = '',
): Promise<{ id: number; login: string }> {
  const { login } = args
  if (login !== undefined) {
    const [hasEmail, hasLogin] = await Promise.all([
      store.emailExists(tx, foldCase(args.email)),
      store.findUserByLoginKey(tx, foldCase(login)),
    ])
    if (hasEmail || hasLogin) throw new Failure(hasEmail ? 'email_taken' : 'login_taken')
    // Of two reasons to refuse it, the one that comes first is found.
    const id = await store.insertUser(tx, accountOf(login, args, passwordHash)).catch(throwLostRace)
    return { id, login }
  }
  // The first is free most often. A free one may be taken concurrently, but then another caller has succeeded.
  for (let number = 1; ; number = await freeNumber(tx, args.email)) {
    const account = accountOf(loginFrom(args.email, number), args, passwordHash)
    const id = await refuseTaken(() => store.insertUserUnlessTaken(tx, account))
    if (id !== undefined) return { id, login: account.login }
  }
}

interface NewAccount {
  /** Derived from the e-mail address if undefined. */
  readonly login: string | undefined
  readonly email: string
}

export interface Account {
  readonly id: number
  readonly login: string
}

/** The same for many; one that cannot be added yields its failure. */
export async function addAccounts(tx: Tx, batch: readonly NewAccount[]): Promise<(Account | Failure)[]> {
  const rows = batch.map(args => accountOf(args.login ?? loginFrom(args.email, 1), args, ''))
  const taken = (column: 'email_key' | 'login_key') => store.takenAmong(tx, column, rows)
  const [emails, logins] = await Promise.all([taken('email_key'), taken('login_key')])
  const candidates = rows.map((row, place): Failure | typeof row | undefined => {
    if (emails.has(row.email_key)) return new Failure('email_taken')
    const isTaken = logins.has(row.login_key)
    if (isTaken && batch[place]!.login !== undefined) return new Failure('login_taken')
    emails.add(row.email_key)
    logins.add(row.login_key)
    return isTaken ? undefined : row
  })
  const insertable = candidates.filter(
    (row): row is store.NewUser & { login: string } => row !== undefined && !(row instanceof Failure),
  )
  const ids = (await store.insertUsers(tx, insertable)).values()
  const accounts: (Account | Failure)[] = []
  for (const [place, row] of candidates.entries()) {
    if (row instanceof Failure) accounts.push(row)
    else if (row) accounts.push({ id: ids.next().value!, login: row.login })
    // Derived again, now that the other accounts' logins exist.
    else accounts.push(await addAccount(tx, batch[place]!))
  }
  return accounts
}

function accountOf(login: string, args: Omit<UserArguments, 'login'>, password_hash: string) {
  const { first_name = '', last_name = '' } = args
  const display_name = nameOf({ ...args, first_name, last_name, login })
  const time = now()
  return {
    login,
    login_key: foldCase(login),
    email: args.email,
    email_key: foldCase(args.email),
    first_name,
    last_name,
    display_name,
    display_name_key: foldAccents(display_name),
    role: args.role ?? ('' as const),
    password_hash,
    registered_at: time,
    updated_at: time,
  }
}

/**
 * Changes an account's address within a larger transaction. Password resets go to the address, so for accounts that log
 * in only those who may edit accounts can change it.
 * @returns whether it is another one now @throws Failure email_taken, forbidden
 */
export async function changeEmail(
  tx: WriteTx,
  { actor }: Origin,
  userId: number,
  email: string,
): Promise<boolean> {
  const before = (await store.lockUser(tx, userId))!
  const asksHere = actor.kind === 'key' || actor.kind === 'session'
  if (before.role !== '' && before.email !== email && asksHere && !actor.permissions.has('users.edit')) {
    throw new Failure('forbidden', {
      message: 'The account logs in here: to change its e-mail address needs the permission users.edit.',
      data: { permission: 'users.edit' },
    })
  }
  await writeEmail(tx, before, email)
  tx.log('user.edit', userId, { before: { email: before.email }, after: { email } })
  return email !== before.email
}

/** Revokes a reset link that was sent to the old address. */
async function writeEmail(tx: Tx, before: Pick<store.User, 'id' | 'email'>, email: string): Promise<void> {
  if (email === before.email) return
  const change = { email, email_key: foldCase(email), email_changed_at: now(), updated_at: now() }
  await refuseTaken(() => store.updateUser(tx, before.id, change))
  await removeRecoveriesOf(tx, before.id)
}

/** Accounts with this login or e-mail address: maybe two, since a login may look like someone else's address. */
export async function findByName(db: Db, name: string): Promise<store.User[]> {
  const key = foldCase(name)
  const candidates = [await store.findUserByLoginKey(db, key), await store.findUserByEmailKey(db, key)]
  const accounts = candidates.filter(user => user !== undefined)
  return accounts[0]?.id === accounts[1]?.id ? accounts.slice(0, 1) : accounts
}

type Names = Pick<store.User, 'first_name' | 'last_name' | 'login'> & { display_name?: string }

/** What people call an account. */
export function nameOf(user: Names): string {
  return user.display_name || `${user.first_name} ${user.last_name}`.trim() || user.login
}

function existing<T extends store.User>(user: T | undefined): T {
  if (!user) throw new Failure('no_user')
  return user
}

async function refuseTaken<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    if (cause instanceof UniqueViolation && cause.key === 'users.email_key') throw new Failure('email_taken')
    if (cause instanceof UniqueViolation && cause.key === 'users.login_key') throw new Failure('login_taken')
    throw cause
  }
}

/** Derives a login from an e-mail address, with -2, -3, … if earlier ones are taken. */
function loginFrom(email: string, number: number): string {
  const suffix = number === 1 ? '' : `-${number}`
  const login = [...email.replace(NOT_IN_LOGIN, '')].slice(0, MAX_LOGIN_LENGTH - suffix.length).join('')
  return login.trim() + suffix
}

/** Doubling, then bisection: even thousands of similar addresses need only a handful of look-ups. */
async function freeNumber(db: Db, email: string): Promise<number> {
  const isTaken = (number: number) => store.loginExists(db, foldCase(loginFrom(email, number)))
  let free = 1
  while (await isTaken(free)) free *= 2
  let lastTaken = Math.floor(free / 2)
  while (free - lastTaken > 1) {
    const middle = Math.floor((free + lastTaken) / 2)
    if (await isTaken(middle)) lastTaken = middle
    else free = middle
  }
  return free
}

/** User accounts: who can own a key, be an affiliate, or log in. Login and e-mail are unique without regard to case. */
import { Failure, type Problems, refuseInvalid } from '../errors.ts'
import { foldCase, now } from '../fields.ts'
import { type Database, type Db, type Tx, UniqueViolation } from '../storage/database.ts'
import { hashPassword } from './password.ts'
import { MAX_LOGIN_LENGTH, type UserArguments } from './schema.ts'
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
 * Makes an account that can log in when a password is given.
 * @throws Failure email_taken, login_taken, invalid_argument
 */
export async function createUser(
  database: Database,
  args: UserArguments & { password?: string },
): Promise<store.User> {
  const problems: Problems = {}
  const wrongLogin = loginProblem(args.login)
  if (wrongLogin) problems.login = wrongLogin
  if (args.password !== undefined) {
    const wrongPassword = passwordProblem(args.password)
    if (wrongPassword) problems.password = wrongPassword
  }
  refuseInvalid(problems)
  const passwordHash = args.password === undefined ? '' : await hashPassword(args.password)
  return database.transaction(async tx => {
    const id = await addAccount(tx, args, passwordHash)
    return (await store.findUser(tx, id))!
  })
}

/**
 * Adds an account in a transaction that does more.
 * @param args `login` undefined: one is made from the e-mail address
 * @returns its identifier
 * @throws Failure email_taken, login_taken
 */
export async function addAccount(
  tx: Tx,
  args: Omit<UserArguments, 'login'> & { login?: string | undefined },
  passwordHash = '',
): Promise<number> {
  const { login } = args
  if (login !== undefined) {
    // Where both are taken, engines differ in which of the two they report.
    if (await store.emailExists(tx, foldCase(args.email))) throw new Failure('email_taken')
    return refuseTaken(() => store.insertUser(tx, accountOf(login, args, passwordHash)))
  }
  for (;;) {
    const account = accountOf(await freeLogin(tx, args.email), args, passwordHash)
    const id = await refuseTaken(() => store.insertUserUnlessTaken(tx, account))
    // Another process may have taken the login since; each round somebody gets one.
    if (id !== undefined) return id
  }
}

function accountOf(login: string, args: Omit<UserArguments, 'login'>, password_hash: string) {
  const { first_name = '', last_name = '' } = args
  const display_name = args.display_name || `${first_name} ${last_name}`.trim() || login
  const time = now()
  return {
    login,
    login_key: foldCase(login),
    email: args.email,
    email_key: foldCase(args.email),
    first_name,
    last_name,
    display_name,
    display_name_key: foldCase(display_name),
    role: args.role ?? ('' as const),
    password_hash,
    registered_at: time,
    updated_at: time,
  }
}

/** @throws Failure email_taken */
export async function changeEmail(tx: Tx, userId: number, email: string): Promise<void> {
  await refuseTaken(() =>
    store.updateEmail(tx, userId, { email, email_key: foldCase(email), updated_at: now() }),
  )
}

export async function findByLogin(db: Db, login: string): Promise<store.User | undefined> {
  return store.findUserByLoginKey(db, foldCase(login))
}

function passwordProblem(password: string): string | undefined {
  const { length } = [...password]
  return length >= 8 && length <= 1000 ? undefined : 'must have 8 to 1000 characters.'
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

/**
 * A login made from an e-mail address, with -2, -3, … when it is taken. The number is found by doubling and halving,
 * so that thousands of alike addresses cost a handful of look-ups each.
 */
async function freeLogin(db: Db, email: string): Promise<string> {
  const base = email.replace(NOT_IN_LOGIN, '')
  const candidate = (number: number) => {
    const suffix = number === 1 ? '' : `-${number}`
    return (
      [...base]
        .slice(0, MAX_LOGIN_LENGTH - suffix.length)
        .join('')
        .trim() + suffix
    )
  }
  const taken = (number: number) => store.loginExists(db, foldCase(candidate(number)))
  let free = 1
  while (await taken(free)) free *= 2
  let lastTaken = Math.floor(free / 2)
  while (free - lastTaken > 1) {
    const middle = Math.floor((free + lastTaken) / 2)
    if (await taken(middle)) lastTaken = middle
    else free = middle
  }
  return candidate(free)
}

import { Argument, type Command, Option } from 'commander'
import { Type } from 'typebox'
import { commandLine } from '../../base/actor.ts'
import { formatTime } from '../../base/time.ts'
import {
  addCommand,
  CommandFailed,
  type CommonOptions,
  checkedArguments,
  print,
  table,
  withDatabase,
  withNewDatabase,
  withUntouchedDatabase,
} from '../../cli/command.ts'
import { readUpTo } from '../../cli/files.ts'
import { onBehalfOf } from '../../settings/rules.ts'
import type { Database } from '../../storage/database.ts'
import { generatePassword } from './password.ts'
import { type Role, roles } from './roles.ts'
import { createUser, editUser, findByName, resetPassword } from './rules.ts'
import { userArguments } from './schema.ts'
import { findUser, type User, usersAfter } from './store.ts'

/** @returns the parent command, for further subcommands */
export function addUserCommands(program: Command): Command {
  const users = program.command('users').description('manage user accounts')
  addCommand(users, 'create', 'create an account')
    .requiredOption('--login <name>', 'login name: letters, digits, space and _.-@')
    .requiredOption('--email <address>', 'e-mail address')
    .option('--first-name <name>', 'first name')
    .option('--last-name <name>', 'last name')
    .option('--password <text>', 'password; others on this machine may see it: prefer --password-stdin')
    .addOption(passwordStdin())
    .addOption(roleOption())
    .option('--admin', 'same as --role administrator')
    .action(create)
  addCommand(users, 'password', 'set the password of an account and end its sessions')
    .argument('<login>', 'login name, e-mail address, or # and the identifier')
    .option(
      '--password <text>',
      'password; others on this machine may see it (default: a new one, shown once)',
    )
    .addOption(passwordStdin())
    .action(setPassword)
  addCommand(users, 'role', 'give an account another role, which ends its sessions and limits its API keys')
    .argument('<login>', 'login name, e-mail address, or # and the identifier')
    .addArgument(
      new Argument(
        '<role>',
        `what the account may do; ${NO_ROLE} also revokes its API keys for good`,
      ).choices([...roles, NO_ROLE]),
    )
    .action(setRole)
  addCommand(users, 'list', 'list accounts').action(list)
  return users
}

/** The command line's name for no role. */
const NO_ROLE = 'none'

const roleOption = () =>
  new Option('--role <role>', 'what the account may do').choices([...roles]).conflicts('admin')

const passwordStdin = () =>
  new Option('--password-stdin', 'read the password from standard input').conflicts('password')

interface PasswordOptions extends CommonOptions {
  password?: string
  passwordStdin?: true
}

interface CreateOptions extends PasswordOptions {
  login: string
  email: string
  firstName?: string
  lastName?: string
  role?: Exclude<Role, ''>
  admin?: true
}

async function create(options: CreateOptions): Promise<void> {
  const role = options.admin ? 'administrator' : (options.role ?? '')
  const args = checkedArguments(userArguments, {
    login: options.login,
    email: options.email,
    first_name: options.firstName,
    last_name: options.lastName,
    role,
    password: await passwordOf(options),
  })
  const user = await withNewDatabase(options, database => createUser(onBehalfOf(commandLine, database), args))
  print(options, recordOf(user), [
    `Created account ${user.id}: ${user.login} <${user.email}>`,
    ...(role !== '' && args.password === undefined
      ? [`It cannot log in before it has a password: affiliated users password '${user.login}'`]
      : []),
  ])
}

async function setPassword(login: string, options: PasswordOptions): Promise<void> {
  const { password: givenPassword } = checkedArguments(Type.Pick(userArguments, ['password']), {
    password: await passwordOf(options),
  })
  const password = givenPassword ?? generatePassword()
  const user = await withDatabase(options, async database => {
    const account = await accountNamed(database, login)
    await resetPassword(onBehalfOf(commandLine, database), account, password)
    return account
  })
  print(options, { id: user.id, login: user.login, ...(givenPassword === undefined && { password }) }, [
    `Set the password of ${user.login} and ended its sessions.`,
    ...(givenPassword === undefined ? [`  password  ${password}`, 'It will not be shown again.'] : []),
    ...(user.role === '' ? ['This account has no role, so it still cannot log in.'] : []),
  ])
}

async function setRole(login: string, name: Role | typeof NO_ROLE, options: CommonOptions): Promise<void> {
  const role = name === NO_ROLE ? '' : name
  const { record: user, revokedKeys } = await withDatabase(options, async database => {
    const { id } = await accountNamed(database, login)
    return editUser(onBehalfOf(commandLine, database), { user_id: id, role }, undefined)
  })
  print(options, { id: user.id, login: user.login, role, revoked_keys: revokedKeys }, [
    role === ''
      ? `${user.login} has no role any more. ${keysRevoked(revokedKeys)}`
      : `${user.login} is ${role} now.`,
  ])
}

/** What a command says that revokes the keys of an account. */
export const keysRevoked = (count: number): string =>
  count === 1 ? 'Its API key was revoked.' : `${count || 'No'} API keys were revoked.`

/** A thousand characters and the end of their line: what is longer is refused, however long it is. */
const LONGEST_PASSWORD_BYTES = 4002

async function passwordOf({
  password,
  passwordStdin,
  terminal,
}: PasswordOptions): Promise<string | undefined> {
  if (!passwordStdin) return password
  const bytes = await readUpTo(terminal.stdin, LONGEST_PASSWORD_BYTES)
  return bytes.toString().replace(/\r?\n$/, '')
}

async function list(options: CommonOptions): Promise<void> {
  const users = await withUntouchedDatabase(options, async ({ reader }) => {
    const users: User[] = []
    for (;;) {
      const next = await usersAfter(reader, users.at(-1)?.id ?? 0, 1000)
      if (next.length === 0) return users
      users.push(...next)
    }
  })
  const rows = users.map(({ id, login, email, role }) => [String(id), login, email, role])
  print(options, { users: users.map(recordOf) }, table(['id', 'login', 'e-mail', 'role'], rows))
}

function recordOf(user: User) {
  const { id, login, email, first_name, last_name, display_name, role } = user
  const registered = formatTime(user.registered_at)
  return { id, login, email, first_name, last_name, display_name, role, registered }
}

/**
 * @param name a login, an e-mail address, or '#' and an identifier, since no login begins with '#'
 * @throws CommandFailed if no account matches, or more than one
 */
export async function accountNamed({ reader }: Database, name: string): Promise<User> {
  const id = /^#(\d{1,15})$/.exec(name)?.[1]
  const [user, other] =
    id === undefined ? await findByName(reader, name) : [await findUser(reader, Number(id))]
  if (!user) throw new CommandFailed(`There is no account with the login ${name}.`)
  if (other) {
    throw new CommandFailed(
      `Two accounts go by ${name}: it is the login of account ${user.id} (${user.email}) and the e-mail address of account ${other.id} (${other.login}). Say which is meant: #${user.id} or #${other.id}.`,
    )
  }
  return user
}

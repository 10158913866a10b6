import { text } from 'node:stream/consumers'
import type { Command } from 'commander'
import { addCommand, type CommonOptions, checkedArguments, print, table, withDatabase } from '../command.ts'
import { formatTime } from '../fields.ts'
import { createUser } from './rules.ts'
import { userArguments } from './schema.ts'
import { type User, usersAfter } from './store.ts'

export function addUserCommands(program: Command): void {
  const users = program.command('users').description('manage user accounts')
  addCommand(users, 'create', 'create an account')
    .requiredOption('--login <name>', 'login name: letters, digits, space and _.-@')
    .requiredOption('--email <address>', 'e-mail address')
    .option('--first-name <name>', 'first name')
    .option('--last-name <name>', 'last name')
    .option('--password <text>', 'password; others on this machine may see it, see --password-stdin')
    .option('--password-stdin', 'read the password from standard input')
    .option('--admin', 'make it an administrator')
    .action(create)
  addCommand(users, 'list', 'list the accounts').action(list)
}

interface CreateOptions extends CommonOptions {
  login: string
  email: string
  firstName?: string
  lastName?: string
  password?: string
  passwordStdin?: true
  admin?: true
}

async function create(options: CreateOptions): Promise<void> {
  const password = options.passwordStdin
    ? (await text(process.stdin)).replace(/\r?\n$/, '')
    : options.password
  const args = checkedArguments(userArguments, {
    login: options.login,
    email: options.email,
    first_name: options.firstName,
    last_name: options.lastName,
    role: options.admin ? 'administrator' : '',
  })
  const user = await withDatabase(options.database, database =>
    createUser(database, { ...args, ...(password !== undefined && { password }) }),
  )
  print(options, recordOf(user), [`Created account ${user.id}: ${user.login} <${user.email}>`])
}

async function list(options: CommonOptions): Promise<void> {
  const users = await withDatabase(options.database, async ({ reader }) => {
    const all: User[] = []
    for (;;) {
      const next = await usersAfter(reader, all.at(-1)?.id ?? 0, 1000)
      if (next.length === 0) return all
      all.push(...next)
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

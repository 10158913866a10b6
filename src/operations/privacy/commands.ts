import { createInterface } from 'node:readline/promises'
import type { Command } from 'commander'
import { accountNamed, keysRevoked } from '../../accounts/users/commands.ts'
import type { User } from '../../accounts/users/store.ts'
import { commandLine } from '../../base/actor.ts'
import {
  addCommand,
  CommandFailed,
  type CommonOptions,
  print,
  printParts,
  type Terminal,
  withDatabase,
  withUntouchedDatabase,
} from '../../cli/command.ts'
import type { Context } from '../../events/write.ts'
import { findByEmail } from '../../programme/customers/rules.ts'
import { contextOf, onBehalfOf } from '../../settings/rules.ts'
import { customerIn, eraseCustomer, erasePerson, exportCustomer, exportPerson } from './rules.ts'

/** @param users the command whose subcommands these become */
export function addPrivacyCommands(users: Command): void {
  addCommand(users, 'export', 'write all data about a person as one JSON object')
    .argument('<login>', 'login name, e-mail address, or # and the identifier')
    .action(exportData)
  addCommand(
    users,
    'erase',
    'erase the personal data of an account, end its sessions and revoke its API keys; payouts are kept',
  )
    .argument('<login>', 'login name, e-mail address, or # and the identifier')
    .option('--yes', 'do not ask for confirmation')
    .action(erase)
}

/** The same commands for customers who have no account. */
export function addCustomerCommands(program: Command): void {
  const customers = program.command('customers').description('manage customers')
  const customerArgument = ['<customer>', 'e-mail address or identifier'] as const
  addCommand(customers, 'export', 'write all data about a customer as one JSON object')
    .argument(...customerArgument)
    .action(exportCustomerData)
  addCommand(customers, 'erase', 'erase the personal data of a customer; referrals and conversions are kept')
    .argument(...customerArgument)
    .option('--yes', 'do not ask for confirmation')
    .action(eraseCustomerData)
}

async function exportCustomerData(name: string, options: CommonOptions): Promise<void> {
  await withUntouchedDatabase(options, async database => {
    const context = contextOf(database)
    const { id } = await customerNamed(context, name)
    await printParts(options, exportCustomer(context, options.features, id))
  })
}

async function eraseCustomerData(name: string, options: CommonOptions & { yes?: true }): Promise<void> {
  const id = await withDatabase(options, async database => {
    const context = onBehalfOf(commandLine, database)
    const { id, email } = await customerNamed(context, name)
    if (!options.yes) await confirm(options.terminal, { login: email || String(id), email })
    await eraseCustomer(context, id)
    return id
  })
  print(options, { id, erased: true }, [
    `Erased customer ${id}; what was bought and what it earned stays.`,
    'Backups that were made before still hold what was erased.',
  ])
}

/** @throws Failure no_customer */
async function customerNamed(
  context: Context,
  name: string,
): Promise<{ readonly id: number; readonly email: string }> {
  const [, id] = /^#?(\d+)$/.exec(name) ?? []
  if (id === undefined) return findByEmail(context, name)
  const { email } = await customerIn(context.database.reader, Number(id))
  return { id: Number(id), email }
}

async function exportData(login: string, options: CommonOptions): Promise<void> {
  await withUntouchedDatabase(options, async database => {
    const { id } = await accountNamed(database, login)
    await printParts(options, exportPerson(contextOf(database), options.features, id))
  })
}

async function erase(login: string, options: CommonOptions & { yes?: true }): Promise<void> {
  const { user, revokedKeys } = await withDatabase(options, async database => {
    const user = await accountNamed(database, login)
    if (!options.yes) await confirm(options.terminal, user)
    return erasePerson(onBehalfOf(commandLine, database), user.id)
  })
  print(options, { id: user.id, login: user.login, erased: true, revoked_keys: revokedKeys }, [
    `Erased account ${user.id}, which is now called ${user.login}. Its sessions have ended; payouts stay. ${keysRevoked(revokedKeys)}`,
    'Backups that were made before still hold what was erased.',
  ])
}

/** @throws CommandFailed when nobody confirms */
async function confirm(
  { stdin, stderr }: Terminal,
  { login, email }: Pick<User, 'login' | 'email'>,
): Promise<void> {
  const terminal = createInterface({ input: stdin, output: stderr })
  try {
    const inputEnd = new Promise<undefined>(resolve => terminal.once('close', () => resolve(undefined)))
    const question = `Erase ${login === email ? '' : `${login} `}<${email}>? This cannot be undone. Type ${login} to go on: `
    const answer = await Promise.race([terminal.question(question), inputEnd])
    // An input that ends without an answer is no consent, and leaves the question without a line break.
    if (answer === undefined) {
      stderr.write('\n')
      throw new CommandFailed('Nothing was erased: nobody answered. --yes erases without asking.')
    }
    if (answer !== login) throw new CommandFailed('Nothing was erased.')
  } finally {
    terminal.close()
  }
}

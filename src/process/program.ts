/** The command line: commands, and how failures are reported. */
import cluster from 'node:cluster'
import { format } from 'node:util'
import { Command, CommanderError } from 'commander'
import { addKeyCommands } from '../accounts/keys/commands.ts'
import { addSecondFactorCommand } from '../accounts/second-factor/commands.ts'
import { addUserCommands } from '../accounts/users/commands.ts'
import { basePaths, features, permissions, schema } from '../app.ts'
import { Failure } from '../base/errors.ts'
import { version } from '../base/package.ts'
import {
  addCommand,
  CommandFailed,
  type CommonOptions,
  print,
  type Terminal,
  withDatabase,
} from '../cli/command.ts'
import { jsonOption } from '../cli/options.ts'
import { addAuditCommands } from '../operations/audit/commands.ts'
import { addDataCommands } from '../operations/data-commands.ts'
import { addCustomerCommands, addPrivacyCommands } from '../operations/privacy/commands.ts'
import { addSafetyCommands } from '../operations/safety-commands.ts'
import { addDetailsCommands } from '../programme/details/commands.ts'
import { addExchangeCommands } from '../programme/exchange/commands.ts'
import { addLedgerCommands } from '../programme/ledger/commands.ts'
import { addReferralCommands } from '../programme/referrals/commands.ts'
import { addRunCommands } from '../programme/runs/commands.ts'
import { addTrackingCommands } from '../programme/tracking/commands.ts'
import { addSettingsCommands } from '../settings/commands.ts'
import { DatabaseUnavailable, DatabaseUnusable, UrlInvalid } from '../storage/database.ts'
import { serveWithWorkers } from './cluster.ts'
import { configOf, type ServeFlags, serveOptions } from './config.ts'
import { serve } from './serve.ts'

const EXIT_FAILED = 1
const EXIT_USAGE = 2

/**
 * Runs a command to its end. Failures are reported to the terminal, never thrown.
 * @param args of the command line, without the program
 */
export async function run(args: readonly string[], terminal: Terminal): Promise<void> {
  let reported: unknown
  const fail = (error: unknown) => {
    if (error === reported) return
    reported = error
    report(error, terminal)
  }
  // Output may fail; a command that awaits its output gets the same error.
  terminal.stdout.on('error', fail)
  try {
    const program = commandsOn(terminal)
    refuseUnknownTopic(program, args)
    await program.parseAsync(args, { from: 'user' })
  } catch (error) {
    fail(error)
    // The channel to the primary process would keep a worker alive, while the primary waits for it to listen or exit.
    if (cluster.isWorker) process.exit()
  }
}

/** `help NAME`: commander shows the help of the parent where there is no such command, and does not say so. */
function refuseUnknownTopic(program: Command, args: readonly string[]): void {
  let parent = program
  let isHelp = false
  for (const name of args) {
    if (parent.commands.length === 0 || name.startsWith('-')) return
    const next = parent.commands.find(one => one.name() === name)
    if (next) parent = next
    else if (name === 'help') isHelp = true
    else if (isHelp) parent.error(`error: unknown command '${name}'`)
    else return
  }
}

export function commandsOn(terminal: Terminal): Command {
  const program = new Command('affiliated')
    .description('A server for running an affiliate programme.')
    .version(version)
    .exitOverride()
    .configureOutput({
      writeOut: text => void terminal.stdout.write(text),
      writeErr: text => void terminal.stderr.write(text),
      outputError: (text, write) => write(withoutPasswords(text)),
    })
    .showHelpAfterError('Add --help to see what the command takes.')

  program.hook('preAction', (_program, command) => {
    for (const [name, value] of Object.entries({ schema, features, terminal }))
      command.setOptionValue(name, value)
  })

  const serveCommand = program
    .command('serve')
    .description('migrate the database, then answer requests until SIGTERM')
    .addOption(jsonOption())
    .action(runServe)
  for (const option of serveOptions()) serveCommand.addOption(option)
  addCommand(program, 'migrate', 'migrate the database').action(runMigrate)
  const users = addUserCommands(program)
  addSecondFactorCommand(users)
  addPrivacyCommands(users)
  addKeyCommands(program, permissions)
  addSettingsCommands(program)
  addRunCommands(program)
  addDetailsCommands(program)
  addCustomerCommands(program)
  addReferralCommands(program)
  addExchangeCommands(program)
  addLedgerCommands(program)
  addDataCommands(program)
  addAuditCommands(program)
  addSafetyCommands(program)
  addTrackingCommands(program)
  return program
}

const refusals: Readonly<Record<string, string>> = {
  ENOENT: 'is not there',
  EISDIR: 'is a folder, and a file is needed',
  EACCES: 'may not be opened by this account',
}

async function runServe(
  options: ServeFlags & Pick<CommonOptions, 'json' | 'terminal'>,
  self: Command,
): Promise<void> {
  const config = configOf(options, self)
  const start = config.workers === 1 ? serve : serveWithWorkers
  await start(config, (url, access) => {
    const ready = `affiliated answers at ${url}${basePaths[0]}`
    if (!access) return print(options, { url }, [ready])
    const { login, password, publicKey, token } = access
    options.terminal.stdout.once('error', () => options.terminal.stderr.write(notShown(login)))
    print(options, { url, login, password, public_key: publicKey, token }, [
      ready,
      '',
      'This database is new. Its first administrator and API key are shown only now:',
      `  login       ${login}`,
      `  password    ${password}`,
      `  public key  ${publicKey}`,
      `  token       ${token}`,
      '',
      `Log in to the administration area at ${url}/admin`,
      '',
      'Try it:',
      `  curl -u ${publicKey}:${token} ${url}${basePaths[0]}/affiliates`,
    ])
  }).finally(() => {
    // What would keep the process: a worker's channel to the primary process, and for half a minute the query to a name
    // server that does not answer, for a mail that was given up.
    setImmediate(() => process.exit()).unref()
  })
}

/** What is printed only once is lost if its reader is gone or its disk full. */
const notShown = (login: string) =>
  `The first password and key could not be printed. Set a password: affiliated users password ${login}. Create a key: affiliated keys create --name first --user ${login}\n`

async function runMigrate(options: CommonOptions): Promise<void> {
  // Opening a database migrates it.
  await withDatabase(options, async () => {}, { onlyNew: false })
  print(options, { migrated: true }, ['The database is up to date.'])
}

/** Reports an error, unless commander has already, and sets the exit code. */
function report(error: unknown, terminal: Terminal): void {
  if (error instanceof CommanderError) {
    terminal.exitCode = error.exitCode === 0 ? 0 : EXIT_USAGE
    return
  }
  // A reader that closes early, such as `head`, is not a failure.
  if (error instanceof Error && 'code' in error && error.code === 'EPIPE') return
  terminal.exitCode = error instanceof UrlInvalid ? EXIT_USAGE : EXIT_FAILED
  const words = isExplained(error) ? `error: ${sentenceOf(error)}` : format('error:', error)
  terminal.stderr.write(`${words}\n`)
}

/** Errors may repeat a URL, but never the password in it. */
function withoutPasswords(text: string): string {
  return text.replace(/:\/\/[^\s/]*@/g, '://…@')
}

/** A system error as a sentence. */
function sentenceOf(error: Error & { code?: string; path?: string }): string {
  const refusal = refusals[error.code ?? '']
  if (refusal === undefined || !('syscall' in error)) return error.message
  return `${error.path ?? 'The file'} ${refusal}.`
}

/** Whether one line tells the operator enough; faults of the program are printed with their stack. */
function isExplained(error: unknown): error is Error {
  if (!(error instanceof Error)) return false
  // System errors. Node's own errors have a code too, but no system call.
  if ('syscall' in error) return true
  return [CommandFailed, Failure, DatabaseUnusable, DatabaseUnavailable].some(kind => error instanceof kind)
}

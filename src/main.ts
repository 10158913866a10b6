/** The command line: which commands there are, and how one ends that fails. */
import { Command, CommanderError } from 'commander'
import { basePaths, permissions } from './app.ts'
import { addAuditCommands } from './audit/commands.ts'
import { serveWithWorkers } from './cluster.ts'
import { addCommand, CommandFailed, type CommonOptions, print, withDatabase } from './command.ts'
import { jsonOption, type ServeConfig, serveOptions } from './config.ts'
import { addDataCommands } from './data-commands.ts'
import { Failure } from './errors.ts'
import { addKeyCommands } from './keys/commands.ts'
import { version } from './package.ts'
import { addSafetyCommands } from './safety-commands.ts'
import { serve } from './serve.ts'
import { addSettingsCommands } from './settings/commands.ts'
import { DatabaseUnusable } from './storage/database.ts'
import { addUserCommands } from './users/commands.ts'

const EXIT_FAILED = 1
const EXIT_USAGE = 2

// Databases and backups hold names, addresses and amounts: nobody but their owner reads the files that are made here.
process.umask(0o077)

const program = new Command('affiliated')
  .description('The server that a business runs its affiliate programme on.')
  .version(version)
  .exitOverride()
  .showHelpAfterError('Add --help to see what the command takes.')

const serveCommand = program
  .command('serve')
  .description('bring the database up to date, then answer requests until SIGTERM')
  .addOption(jsonOption())
  .action(runServe)
for (const option of serveOptions()) serveCommand.addOption(option)
addCommand(program, 'migrate', 'bring the database up to date').action(runMigrate)
addUserCommands(program)
addKeyCommands(program, permissions)
addSettingsCommands(program)
addDataCommands(program)
addAuditCommands(program)
addSafetyCommands(program)

try {
  await program.parseAsync()
} catch (error) {
  process.exitCode = report(error)
}

async function runServe(options: ServeConfig & { json?: true }): Promise<void> {
  const start = options.workers === 1 ? serve : serveWithWorkers
  await start(options, (url, access) => {
    const ready = `affiliated answers at ${url}${basePaths[0]}`
    if (!access) return print(options, { url }, [ready])
    const { login, password, publicKey, token } = access
    print(options, { url, login, password, public_key: publicKey, token }, [
      ready,
      '',
      'This database is new. Its first administrator and API key are shown only now:',
      `  login       ${login}`,
      `  password    ${password}`,
      `  public key  ${publicKey}`,
      `  token       ${token}`,
      '',
      'Try it:',
      `  curl -u ${publicKey}:${token} ${url}${basePaths[0]}/affiliates`,
    ])
  })
}

async function runMigrate(options: CommonOptions): Promise<void> {
  // Opening a database migrates it.
  await withDatabase(options.database, async () => {})
  print(options, { migrated: true }, ['The database is up to date.'])
}

/** Says in one line what went wrong, unless commander has said it. */
function report(error: unknown): number {
  if (error instanceof CommanderError) return error.exitCode === 0 ? 0 : EXIT_USAGE
  const { code, message } = error as NodeJS.ErrnoException
  if (error instanceof CommandFailed || error instanceof Failure || error instanceof DatabaseUnusable) {
    console.error(`error: ${message}`)
  } else if (code === 'EADDRINUSE') {
    console.error('error: Another program uses this port; choose one with --port.')
  } else if (code === 'EACCES' || code === 'EADDRNOTAVAIL') {
    console.error(`error: This address can't be listened on (${code}); see --host and --port.`)
  } else {
    console.error(`error: ${message}`)
  }
  return EXIT_FAILED
}

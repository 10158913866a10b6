/** Commands on the whole database: fill it with samples, or copy it. */
import { type Command, Option } from 'commander'
import {
  addCommand,
  CommandFailed,
  type CommonOptions,
  print,
  table,
  withDatabase,
  withNewDatabase,
} from '../cli/command.ts'
import { databaseUrl, jsonOption, wholeNumber } from '../cli/options.ts'
import { showProgress } from '../cli/progress.ts'
import { fileOf } from '../storage/sqlite/files.ts'
import { copyDatabase } from './copy.ts'
import { type DemoSize, fillWithDemo } from './demo/demo.ts'

const MOST_ROWS = 1_000_000_000

export function addDataCommands(program: Command): void {
  addCommand(program, 'demo', 'fill an empty database with sample data')
    .addOption(sizeOption('--affiliates <number>', 'number of affiliates', 200))
    .addOption(sizeOption('--payouts <number>', 'number of payouts', 600))
    .action(demo)
  program
    .command('copy')
    .description('copy a whole database into a new one; stop the service first')
    .requiredOption('--from <url>', 'database to copy', databaseUrl)
    .requiredOption('--to <url>', 'database to copy to, which must be empty', databaseUrl)
    .addOption(jsonOption())
    .action(copy)
}

const sizeOption = (flags: string, description: string, size: number) =>
  new Option(flags, description).default(size).argParser(wholeNumber(0, MOST_ROWS))

async function demo(options: CommonOptions & DemoSize, self: Command): Promise<void> {
  const { affiliates, payouts } = options
  if (payouts > 0 && affiliates === 0)
    self.error('error: --payouts needs affiliates: give --affiliates a number above 0.')
  const startedAt = performance.now()
  const { progress, end } = showProgress(options.terminal, 'demo')
  const filled = await withNewDatabase(options, database =>
    fillWithDemo(database, options.features, { affiliates, payouts }, progress),
  ).finally(end)
  if (!filled)
    throw new CommandFailed(
      'The database has records already; nothing was added. Name a new one with --database.',
    )
  const seconds = Math.round((performance.now() - startedAt) / 100) / 10
  print(options, { affiliates, payouts, seconds }, [
    `Made ${affiliates} affiliates and ${payouts} payouts in ${seconds} s.`,
  ])
}

const placeOf = (url: string) => (url.startsWith('sqlite:') ? fileOf(url) : url)

async function copy(options: CommonOptions & { from: string; to: string }, self: Command): Promise<void> {
  if (placeOf(options.from) === placeOf(options.to))
    self.error('error: --from and --to name the same database.')
  let current: { step: string; bar: ReturnType<typeof showProgress> } | undefined
  const progress = (step: string, done: number, total: number) => {
    if (current?.step !== step) {
      current?.bar.end()
      current = { step, bar: showProgress(options.terminal, step) }
    }
    current.bar.progress(done, total)
  }
  const tables = await withDatabase(
    { ...options, database: options.from },
    source =>
      withDatabase({ ...options, database: options.to }, target => copyDatabase(source, target, progress), {
        alone: true,
        incomplete: true,
      }),
    { existing: true, alone: true },
  ).finally(() => current?.bar.end())
  const rows = tables.map(copied => [copied.table, String(copied.rows), copied.checksum])
  print(options, { tables }, table(['table', 'rows', 'checksum'], rows))
}

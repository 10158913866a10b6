import { statSync } from 'node:fs'
import type { Command } from 'commander'
import { commandLine } from '../../base/actor.ts'
import { CsvError, type NamedRow } from '../../base/csv.ts'
import { parseExactly } from '../../base/json.ts'
import { importedText } from '../../base/words.ts'
import {
  addCommand,
  CommandFailed,
  type CommonOptions,
  checkedArguments,
  print,
  withDatabase,
} from '../../cli/command.ts'
import { piecesOf } from '../../cli/files.ts'
import { ignoreOption } from '../../cli/options.ts'
import { showProgress } from '../../cli/progress.ts'
import { onBehalfOf } from '../../settings/rules.ts'
import { type Imported, importReferrals } from './importing.ts'
import { createArguments } from './schema.ts'

export function addReferralCommands(program: Command): void {
  const referrals = program.command('referrals').description('manage referrals')
  addCommand(
    referrals,
    'import',
    'import referrals from a CSV file; nothing is imported unless all lines are valid',
  )
    .argument('<file>', 'CSV file whose column names are arguments of POST /referrals')
    .option('--dry-run', 'validate the lines, and import nothing')
    .option('--context <name>', 'context of the referrals, if the file has no such column', 'import')
    .addOption(ignoreOption())
    .action(runImport)
}

interface ImportCommandOptions extends CommonOptions {
  dryRun?: true
  context: string
  ignore: string[]
}

async function runImport(file: string, options: ImportCommandOptions): Promise<void> {
  const { dryRun = false, context, ignore } = options
  refuseStream(file)
  const { progress, end } = showProgress(options.terminal, 'referrals')
  const result = await withDatabase(options, database =>
    importReferrals(onBehalfOf(commandLine, database), {
      open: () => piecesOf(file),
      read: argumentsIn,
      ignored: ignore,
      context,
      dry: dryRun,
      progress: lines => progress(lines, Number.POSITIVE_INFINITY),
    }),
  )
    .catch((error: unknown) => {
      if (error instanceof CsvError) throw new CommandFailed(`line ${error.line} ${error.message}`)
      throw error
    })
    .finally(end)
  show(options, result, dryRun)
}

/** The file is read twice: at the second time, a pipe would be empty, and the import of nothing a success. */
function refuseStream(file: string): void {
  const status = statSync(file, { throwIfNoEntry: false })
  if (!status || status.isFile() || status.isDirectory()) return
  throw new CommandFailed(
    `${file} is no regular file: save what it gives into one, because it is read twice.`,
  )
}

/** Empty cells count as not sent. Lists and objects are JSON. */
function argumentsIn(values: NamedRow['values']) {
  const filledCells = Object.entries(values).filter(([, value]) => value !== '')
  const read = filledCells.map(([name, value]) => [
    name,
    ['products', 'custom'].includes(name) ? json(value) : value,
  ])
  return checkedArguments(createArguments, Object.fromEntries(read))
}

function json(text: string): unknown {
  if (!/^[[{]/.test(text)) return text
  try {
    return parseExactly(text)
  } catch {
    return text
  }
}

function show(options: CommonOptions, result: Imported, dry: boolean): void {
  const { lines, imported, existing, wrong, errors } = result
  const sentences = errors.map(({ line, message }) => `line ${line}: ${message}`)
  const unlisted = wrong - errors.length
  if (unlisted > 0) sentences.push(`and ${unlisted} more lines.`)
  if (wrong > 0 && !options.json) {
    const head = `${wrong} of ${lines} lines are wrong; ${imported > 0 ? `${imported} were imported` : 'nothing was imported'}.`
    throw new CommandFailed([head, ...sentences].join('\n       '))
  }
  if (wrong > 0) options.terminal.exitCode = 1
  print(options, { ...result, dry_run: dry }, [
    dry
      ? `All ${lines} lines are right: ${imported} would be imported, ${existing} ${existing === 1 ? 'is' : 'are'} there already.`
      : importedText(result),
  ])
}

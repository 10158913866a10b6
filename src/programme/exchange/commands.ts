import type { Command } from 'commander'
import { commandLine } from '../../base/actor.ts'
import { CsvError, type NamedRow } from '../../base/csv.ts'
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
import { onBehalfOf } from '../../settings/rules.ts'
import { exchangeRate } from './exchange-rate.ts'
import { importRates } from './importing.ts'

export function addExchangeCommands(program: Command): void {
  const rates = program.command('exchange-rates').description('manage exchange rates')
  addCommand(
    rates,
    'import',
    'import exchange rates from a CSV file; a rate that already exists with another value is an error',
  )
    .argument('<file>', 'CSV file with the columns from_currency, to_currency, rate, date')
    .addOption(ignoreOption())
    .action(runImport)
}

async function runImport(file: string, options: CommonOptions & { ignore: string[] }): Promise<void> {
  const result = await withDatabase(options, database =>
    importRates(onBehalfOf(commandLine, database), piecesOf(file), argumentsIn, options.ignore),
  ).catch((error: unknown) => {
    if (error instanceof CsvError) throw new CommandFailed(`line ${error.line} ${error.message}`)
    throw error
  })
  const { wrong, errors } = result
  if (wrong > 0) options.terminal.exitCode = 1
  print(options, result, [
    importedText(result),
    ...errors.map(({ line, message }) => `line ${line}: ${message}`),
    ...(wrong > errors.length ? [`and ${wrong - errors.length} more lines that are wrong.`] : []),
  ])
}

/** Empty cells count as not sent. */
function argumentsIn(values: NamedRow['values']) {
  const filledCells = Object.entries(values).filter(([, value]) => value.trim() !== '')
  return checkedArguments(exchangeRate.create, Object.fromEntries(filledCells))
}

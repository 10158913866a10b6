import { basename } from 'node:path'
import { Argument, type Command, Option } from 'commander'
import { commandLine } from '../../base/actor.ts'
import { amountText, decimalText } from '../../base/money.ts'
import { MIB } from '../../base/schemas.ts'
import { formatTime } from '../../base/time.ts'
import { counted } from '../../base/words.ts'
import {
  addCommand,
  CommandFailed,
  type CommonOptions,
  checkedArguments,
  print,
  printParts,
  table,
  withDatabase,
  withUntouchedDatabase,
} from '../../cli/command.ts'
import { piecesOf, readUpTo, writeWhole } from '../../cli/files.ts'
import { identifier, secretKeyOption } from '../../cli/options.ts'
import type { RequestContext } from '../../events/write.ts'
import { onBehalfOf } from '../../settings/rules.ts'
import { wholeList } from '../../storage/page.ts'
import { formats } from './formats/formats.ts'
import { resultFormats } from './outcome.ts'
import * as rules from './rules.ts'
import { payoutRun, type Run, type RunRow } from './run.ts'
import {
  approveArguments,
  cancelArguments,
  editArguments,
  fileArguments,
  MOST_CONTENT,
  prepareArguments,
  resultArguments,
} from './schema.ts'
import { fileNameOf, methods } from './words.ts'

/** No request waits for the command line, so each step runs to its end. */
const FOR_EVER = Number.POSITIVE_INFINITY

export function addRunCommands(program: Command): void {
  const runs = program.command('runs').description('prepare, approve, send and settle payout runs')
  addCommand(runs, 'list', 'list payout runs').action(list)
  addCommand(
    runs,
    'prepare',
    'prepare a run, which reserves nothing, and show who is paid and who is left out',
  )
    .addOption(new Option('--method <name>', 'payment method (default: csv)').choices(methods))
    .option('--cut-off <date>', 'pay earnings up to the end of this day (default: all)')
    .option('--execution-date <date>', 'day on which the bank is asked to pay (default: after the approval)')
    .option('--group <id>', 'pay only affiliates of this group (default: all)')
    .option('--minimum <amount>', 'smallest amount to pay an affiliate (default: 0)')
    .option('--note <text>', 'note that payees see with the payment')
    .option('--exclude <list>', 'identifiers of affiliates to leave out, separated by commas')
    .action(prepare)
  addRunCommand(runs, 'prepare-again', 'prepare a draft again on the same terms, after something has changed')
    .option(
      '--exclude <list>',
      'identifiers of affiliates to leave out, separated by commas (default: as before)',
    )
    .action(prepareAgain)
  addRunCommand(runs, 'show', 'show a run and the outcomes of its payments').action(show)
  addRunCommand(runs, 'approve', 'approve a run that was reviewed, and reserve what it pays')
    .requiredOption('--hash <text>', 'hash of the run that was reviewed')
    .action(approve)
  addRunCommand(runs, 'cancel', 'cancel a run, and release what it has reserved')
    .option('--not-handed-over', 'confirm that no downloaded file has gone to a bank or to PayPal')
    .action(cancel)
  addRunCommand(runs, 'file', 'write a file of a run')
    .addOption(secretKeyOption())
    .addArgument(new Argument('<format>', 'format of the file').choices(formats.map(({ name }) => name)))
    .option('--part <number>', 'number of the file, if there are several (default: 1)')
    .option('--columns <list>', 'columns of a plain CSV file, separated by commas (default: all)')
    .option('--output <path>', 'file to write (default: standard output; required with --json)')
    .option('--handed-over', 'write nothing, but record that the file was handed over')
    .action(file)
  addRunCommand(runs, 'result', 'import the results of a run from a file')
    .argument('<path>', 'file of results')
    .addOption(new Option('--format <name>', 'format of the file (default: csv)').choices(resultFormats))
    .option('--dry-run', 'only say what would be recorded')
    .action(result)
  addRunCommand(runs, 'reconcile', 'write the payments and their outcomes as CSV').action(reconcile)
  addRunCommand(runs, 'close', 'close a run once the outcome of each payment is known').action(close)
}

const addRunCommand = (parent: Command, name: string, description: string) =>
  addCommand(parent, name, description).argument('<run>', 'identifier of the run', identifier)

const onDatabase = <T>(options: CommonOptions, work: (context: RequestContext) => Promise<T>): Promise<T> =>
  withDatabase(options, database => work(onBehalfOf(commandLine, database)))

const reading = <T>(options: CommonOptions, work: (context: RequestContext) => Promise<T>): Promise<T> =>
  withUntouchedDatabase(options, database => work(onBehalfOf(commandLine, database)))

async function printRun(options: CommonOptions, context: RequestContext, run: RunRow, more: string[] = []) {
  const settings = await context.settings.current()
  const record = payoutRun.show(run, settings)
  print(options, record, [
    `Run ${run.id} is ${run.status}: ${counted(run.payees, 'payee')}, ${amountText(run.amount, settings)}, by ${run.method}; ${run.excluded} left out.`,
    ...(record.execution_date ? [`execution date  ${record.execution_date}`] : []),
    ...(run.status === 'draft' ? [`hash  ${run.hash}`] : []),
    ...more,
  ])
}

async function list(options: CommonOptions): Promise<void> {
  await reading(options, async context => {
    const settings = await context.settings.current()
    const newestFirst = { ...wholeList(rules.reading.orders.id!), descending: true }
    const found = await rules.reading.page(context, {}, newestFirst)
    const rows = found.map(run =>
      [
        run.id,
        formatTime(run.created_at),
        run.status,
        run.method,
        run.payees,
        decimalText(run.amount, settings.decimals),
      ].map(String),
    )
    print(
      options,
      { runs: found.map(run => payoutRun.show(run, settings)) },
      table(['run', 'prepared', 'status', 'method', 'payees', 'amount'], rows),
    )
  })
}

interface PrepareOptions extends CommonOptions {
  method?: string
  cutOff?: string
  executionDate?: string
  group?: string
  minimum?: string
  note?: string
  exclude?: string
}

async function prepare(options: PrepareOptions): Promise<void> {
  const { method, cutOff, executionDate, group, minimum, note, exclude } = options
  const args = checkedArguments(prepareArguments, {
    method,
    cut_off: cutOff,
    execution_date: executionDate,
    group_id: group,
    minimum,
    note,
    exclude,
  })
  await onDatabase(options, async context => {
    const { id } = await rules.prepare(context, args)
    await printPrepared(options, context, id)
  })
}

async function printPrepared(options: CommonOptions, context: RequestContext, id: number): Promise<void> {
  await rules.proceed(context, id, FOR_EVER)
  const run = await rules.reading.get(context, id)
  await printRun(options, context, run, await linesOf(context, run))
}

const MOST_LINES = 1000

/** The payees, and those who are left out, with the reason. */
async function linesOf(context: RequestContext, { id }: Pick<Run, 'id'>): Promise<string[]> {
  const settings = await context.settings.current()
  const page = { order: rules.itemReading.orders.id!, descending: false, offset: 0, limit: MOST_LINES }
  const items = await rules.itemReading.page(context, { payout_run_id: [id] }, page)
  const rows = items.map(({ affiliate_id, payee_name, amount, status, reason, note }) => [
    String(affiliate_id),
    payee_name,
    decimalText(amount, settings.decimals),
    status,
    reason,
    note,
  ])
  return [
    '',
    ...table(['affiliate', 'name', 'amount', 'status', 'reason', 'note'], rows),
    ...(items.length < MOST_LINES ? [] : [`These are the first ${MOST_LINES}: the interface lists all.`]),
  ]
}

/** The arguments of a command on one run. */
const argumentsOf = (run: number, others: Record<string, unknown> = {}) => ({ payout_run_id: run, ...others })

async function show(id: number, options: CommonOptions): Promise<void> {
  await reading(options, async context => {
    const found = await rules.reading.get(context, id)
    const settings = await context.settings.current()
    const reconciliation = await rules.reconcile(context, id)
    if (options.json) print(options, { ...payoutRun.show(found, settings), reconciliation }, [])
    else await printRun(options, context, found, await linesOf(context, found))
  })
}

async function prepareAgain(run: number, options: CommonOptions & { exclude?: string }): Promise<void> {
  const args = checkedArguments(editArguments, argumentsOf(run, { exclude: options.exclude }))
  await onDatabase(options, async context => {
    await rules.edit(context, args)
    await printPrepared(options, context, args.payout_run_id)
  })
}

async function approve(run: number, options: CommonOptions & { hash: string }): Promise<void> {
  const args = checkedArguments(approveArguments, argumentsOf(run, { hash: options.hash }))
  const id = args.payout_run_id
  await onDatabase(options, async context => {
    await rules.approve(context, args)
    await rules.proceed(context, id, FOR_EVER)
    await printRun(options, context, await rules.approvedAsFar(context, id))
  })
}

async function cancel(run: number, options: CommonOptions & { notHandedOver?: true }): Promise<void> {
  const args = checkedArguments(cancelArguments, argumentsOf(run, { not_handed_over: options.notHandedOver }))
  await onDatabase(options, async context => {
    await rules.cancel(context, args)
    await rules.proceed(context, args.payout_run_id, FOR_EVER)
    await printRun(options, context, await rules.reading.get(context, args.payout_run_id))
  })
}

async function reconcile(id: number, options: CommonOptions): Promise<void> {
  await reading(options, async context => {
    if (options.json) print(options, await rules.reconcile(context, id), [])
    else options.terminal.stdout.write(await rules.reconciliationCsv(context, id))
  })
}

async function close(id: number, options: CommonOptions): Promise<void> {
  await onDatabase(options, async context => printRun(options, context, await rules.close(context, id)))
}

interface FileOptions extends CommonOptions {
  part?: string
  columns?: string
  output?: string
  handedOver?: true
}

async function file(run: number, format: string, options: FileOptions, self: Command): Promise<void> {
  const { part, columns, output, handedOver } = options
  const args = checkedArguments(fileArguments, argumentsOf(run, { part, columns }))
  if (options.json && output === undefined && !handedOver) self.error('error: --json needs --output')
  await onDatabase(options, async context => {
    if (handedOver) return printRun(options, context, await rules.handOver(context, format, args))
    if (output !== undefined) {
      const { name, erased } = await writeWhole(output, () => rules.file(context, format, args), {
        // It may be another run's. From the first line on, the run counts as downloaded.
        replace: false,
      })
      return print(options, { path: output, name, erased }, [`Wrote ${output}.`, ...missing(erased)])
    }
    const { text, erased } = await rules.file(context, format, args)
    await printParts(options, text)
    for (const line of missing(erased)) options.terminal.stderr.write(`${line}\n`)
  })
}

const missing = (erased: number) =>
  erased === 0
    ? []
    : [
        `Payees that were erased since the approval, and are not in it: ${erased}. Record the outcome of each.`,
      ]

async function result(
  run: number,
  path: string,
  options: CommonOptions & { format?: string; dryRun?: true },
): Promise<void> {
  const content = await contentOf(path)
  const args = checkedArguments(
    resultArguments,
    argumentsOf(run, {
      format: options.format,
      content,
      file_name: fileNameOf(basename(path)),
      dry_run: options.dryRun,
    }),
  )
  await onDatabase(options, async context => {
    const recorded = await rules.recordResults(context, args)
    const { conflicts, unknown_references: unknown } = recorded
    print(options, recorded, [
      `${options.dryRun ? 'Would record' : 'Recorded'}: ${Object.entries(recorded.recorded)
        .map(([outcome, count]) => `${count} ${outcome}`)
        .join(', ')}; ${recorded.unchanged} recorded before, ${recorded.ignored} not final.`,
      ...conflicts.map(({ reference, reason }) => `conflict: ${reference} ${reason}`),
      ...unknown.map(reference => `not in this run: ${reference}`),
    ])
    // Scripts read no sentences.
    if (conflicts.length > 0) options.terminal.exitCode = 1
  })
}

/** @throws CommandFailed when it is too large, or not UTF-8 */
async function contentOf(path: string): Promise<string> {
  try {
    const bytes = await readUpTo(piecesOf(path), MOST_CONTENT)
    if (bytes.length > MOST_CONTENT) {
      throw new CommandFailed(`${path} is larger than ${MOST_CONTENT / MIB} MiB: split it.`)
    }
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (cause) {
    if (cause instanceof TypeError) throw new CommandFailed(`${path} must be encoded as UTF-8.`)
    throw cause
  }
}

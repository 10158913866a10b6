import type { Command } from 'commander'
import { commandLine } from '../../base/actor.ts'
import { CSV_BEGINNING, csvLine } from '../../base/csv.ts'
import { decimalText } from '../../base/money.ts'
import { formatTime } from '../../base/time.ts'
import {
  addCommand,
  type CommonOptions,
  print,
  printParts,
  table,
  withUntouchedDatabase,
} from '../../cli/command.ts'
import { writeWhole } from '../../cli/files.ts'
import { identifier } from '../../cli/options.ts'
import { onBehalfOf } from '../../settings/rules.ts'
import { refuseOwn } from '../../storage/sqlite/files.ts'
import { numberedWordsOf } from './because.ts'
import {
  csvOf,
  type Days,
  type JournalLine,
  journalOf,
  lineOf,
  recordDate,
  type Statement,
  statementOf,
} from './statements.ts'

export function addLedgerCommands(program: Command): void {
  const from = ['--from <date>', 'first day or time, UTC (default: that of the first entry)'] as const
  const to = ['--to <date>', 'last day or time, UTC (default: now)'] as const
  addCommand(program, 'ledger', 'write the journal for accountants: CSV whose amounts add up to zero')
    .argument('<file>', 'file to write or replace; - is standard output')
    .option(...from)
    .option(...to)
    .action(writeJournal)
  addCommand(
    program,
    'statement',
    "show an affiliate's statement: opening balance, each change, closing balance",
  )
    .argument('<affiliate>', 'identifier of the affiliate', identifier)
    .option(...from)
    .option(...to)
    .option('--csv', 'write CSV')
    .action(showStatement)
}

const journalColumns = [
  'transfer_id',
  'date',
  'affiliate_id',
  'account',
  'amount',
  'currency',
  'reason',
  'referral_id',
  'payout_id',
  'run_item_id',
  'event_id',
  'record_date',
  'reference',
  'because',
]

async function writeJournal(file: string, options: CommonOptions & Days, self: Command): Promise<void> {
  if (options.json && file === '-') self.error('error: --json needs a file')
  refuseOwn(options.database, file)
  const total = { lines: 0, sum: 0n }
  const settings = await withUntouchedDatabase(options, async database => {
    const context = onBehalfOf(commandLine, database)
    const current = await context.settings.current()
    const journal = () => journalOf(context, options)
    if (file === '-') await printParts(options, csvOf(journal()))
    else await writeWhole(file, async () => ({ text: csvOf(journal()) }), { replace: true })
    return current

    async function* csvOf(journal: AsyncIterable<JournalLine>): AsyncGenerator<string> {
      yield CSV_BEGINNING + csvLine(journalColumns)
      for await (const { transfer, account, amount } of journal) {
        total.lines += 1
        total.sum += amount
        const { id, at, affiliate_id, reason, referral_id, payout_id, run_item_id, event_id } = transfer
        const cells = [id, formatTime(at), affiliate_id, account, decimalText(amount, current.decimals)]
        const causes = [current.currency, reason, referral_id, payout_id, run_item_id, event_id]
        yield csvLine([
          ...cells,
          ...causes,
          recordDate(transfer),
          transfer.reference,
          numberedWordsOf(transfer),
        ])
      }
    }
  })
  if (file === '-') return
  const sum = decimalText(total.sum, settings.decimals)
  print(options, { file, lines: total.lines, sum }, [
    `Wrote ${total.lines} lines into ${file}; together they come to ${sum} ${settings.currency}.`,
  ])
}

async function showStatement(
  affiliateId: number,
  options: CommonOptions & Days & { csv?: true },
): Promise<void> {
  await withUntouchedDatabase(options, async database => {
    const context = onBehalfOf(commandLine, database)
    const settings = await context.settings.current()
    const statement = await statementOf(context, affiliateId, options)
    if (options.csv && !options.json) {
      return printParts(options, csvOf(statement, settings))
    }
    const lines: Line[] = []
    let closing = statement.opening
    for await (const line of statement.lines) {
      closing = line.balance
      lines.push(lineOf(line, settings))
    }
    const ends = {
      opening: decimalText(statement.opening, settings.decimals),
      closing: decimalText(closing, settings.decimals),
    }
    const { from, to } = statement
    const { currency } = settings
    const record = { affiliate_id: affiliateId, from, to, currency, ...ends, lines }
    print(options, record, asTable(statement, lines, ends, currency))
  })
}

type Line = ReturnType<typeof lineOf>

interface Ends {
  readonly opening: string
  readonly closing: string
}

function asTable({ from, to }: Statement, lines: readonly Line[], ends: Ends, currency: string): string[] {
  const rows = lines.map(line => [
    line.date,
    line.because,
    line.record_date.slice(0, 10),
    line.amount,
    line.paid,
    line.balance,
  ])
  const head = ['posted', 'because of', 'of', `amount (${currency})`, 'paid', 'balance']
  return table(head, [
    [from ?? '', 'opening balance', '', '', '', ends.opening],
    ...rows,
    [to, 'closing balance', '', '', '', ends.closing],
  ])
}

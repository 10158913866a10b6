/** The ledger as documents: all of it as a journal, and what one affiliate was owed in a period. */
import { CSV_BEGINNING, csvLine } from '../../base/csv.ts'
import { invalidArguments, type Problems, refuseInvalid } from '../../base/errors.ts'
import { decimalText } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { formatOptionalTime, formatTime, now, parseMoment } from '../../base/time.ts'
import type { Context } from '../../events/write.ts'
import { numberedWordsOf } from './because.ts'
import { type Account, gainIn, owedAccounts } from './holdings.ts'
import { balancesOf, owedOf, refuseNobody } from './rules.ts'
import { type Entry, nextTransfers } from './store.ts'

const AT_ONCE = 1000

/** Days or moments as people write them, both inclusive. */
export interface Days {
  readonly from?: string | undefined
  readonly to?: string | undefined
}

interface Seconds {
  readonly first?: number | undefined
  readonly last?: number | undefined
}

/** @throws Failure invalid_argument */
function secondsOf({ from, to }: Days): Seconds {
  const first = from === undefined ? undefined : parseMoment(from)?.first
  const last = to === undefined ? undefined : parseMoment(to)?.last
  const wrong = 'must be a date (YYYY-MM-DD, or YYYY-MM-DD HH:MM:SS, in UTC).'
  const problems: Problems = {}
  if (from !== undefined && first === undefined) problems.from = wrong
  if (to !== undefined && last === undefined) problems.to = wrong
  refuseInvalid(problems)
  if (first !== undefined && first > (last ?? now())) {
    throw invalidArguments(
      last === undefined
        ? { from: 'must not be in the future, unless to is sent.' }
        : { to: 'must not be before from.' },
    )
  }
  return { first, last }
}

async function* transfersOf(
  { database }: Context,
  seconds: Seconds,
  affiliateId?: number,
): AsyncGenerator<Entry> {
  for (let after = 0; ; ) {
    const part = { after, limit: AT_ONCE, affiliateId, ...seconds }
    const rows = await nextTransfers(database.reader, part)
    yield* rows
    if (rows.length < AT_ONCE) return
    after = rows.at(-1)!.id
  }
}

/** One side of a transfer: positive into an account, negative out of it, so that all lines add up to zero. */
export interface JournalLine {
  readonly transfer: Entry
  readonly account: Account
  readonly amount: bigint
}

/** @throws Failure invalid_argument, before anything is read */
export function journalOf(context: Context, days: Days): AsyncIterable<JournalLine> {
  return sidesOf(transfersOf(context, secondsOf(days)))
}

async function* sidesOf(transfers: AsyncIterable<Entry>): AsyncGenerator<JournalLine> {
  for await (const transfer of transfers) {
    const amount = BigInt(transfer.amount)
    yield { transfer, account: transfer.debit, amount: -amount }
    yield { transfer, account: transfer.credit, amount }
  }
}

/** A transfer that changes what the affiliate is owed, or was paid. */
export interface StatementLine {
  readonly transfer: Entry
  readonly amount: bigint
  /** What was paid, or came back: also of a payout that names no referral, which lowers nothing that is owed. */
  readonly paid: bigint
  /** What they are owed after it. */
  readonly balance: bigint
}

export interface Statement {
  readonly from: string | null
  readonly to: string
  readonly opening: bigint
  readonly lines: AsyncIterable<StatementLine>
}

/** @throws Failure no_affiliate, invalid_argument */
export async function statementOf(context: Context, affiliateId: number, days: Days): Promise<Statement> {
  const { first, last = now() } = secondsOf(days)
  const db = context.database.reader
  await refuseNobody(db, affiliateId)
  const before = first === undefined ? undefined : await balancesOf(db, affiliateId, first - 1)
  const opening = before ? owedOf(before) : 0n
  return {
    from: first === undefined ? null : formatTime(first),
    to: formatTime(last),
    opening,
    lines: linesOf(transfersOf(context, { first, last }, affiliateId), opening),
  }
}

async function* linesOf(transfers: AsyncIterable<Entry>, opening: bigint): AsyncGenerator<StatementLine> {
  let balance = opening
  for await (const transfer of transfers) {
    const move = { from: transfer.debit, to: transfer.credit, amount: BigInt(transfer.amount) }
    const gained = gainIn(owedAccounts, move)
    const paid = gainIn(['paid_out'], move)
    if (gained === 0n && paid === 0n) continue
    balance += gained
    yield { transfer, amount: gained, paid, balance }
  }
}

/** A line of a statement as people read it. */
export function lineOf({ transfer, amount, paid, balance }: StatementLine, { decimals }: Settings) {
  return {
    date: formatTime(transfer.at),
    reason: transfer.reason,
    referral_id: transfer.referral_id ?? 0,
    payout_id: transfer.payout_id ?? 0,
    amount: decimalText(amount, decimals),
    balance: decimalText(balance, decimals),
    record_date: recordDate(transfer),
    reference: transfer.reference ?? '',
    paid: decimalText(paid, decimals),
    because: numberedWordsOf(transfer),
  }
}

/** The date of the referral or payout behind the transfer, which may be much earlier. */
export const recordDate = ({ record_at }: Entry) => formatOptionalTime(record_at)

/** A statement as CSV, written while it is read. */
export async function* csvOf(
  { from, to, opening, lines }: Statement,
  settings: Settings,
): AsyncGenerator<string> {
  const columns = [
    'date',
    'reason',
    'referral_id',
    'payout_id',
    'amount',
    'balance',
    'record_date',
    'reference',
    'paid',
    'because',
  ] as const
  const end = (date: string | null, name: string, balance: bigint) =>
    csvLine([
      date ?? '',
      name,
      null,
      null,
      null,
      decimalText(balance, settings.decimals),
      null,
      null,
      null,
      name,
    ])
  yield CSV_BEGINNING + csvLine(columns) + end(from, 'opening balance', opening)
  let closing = opening
  for await (const line of lines) {
    closing = line.balance
    const cells = lineOf(line, settings)
    yield csvLine(columns.map(name => cells[name]))
  }
  yield end(to, 'closing balance', closing)
}

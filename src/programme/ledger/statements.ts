/** The ledger as documents: all of it as a journal, and what one affiliate was owed in a period. */
import { invalidArguments, type Problems, refuseInvalid } from '../../base/errors.ts'
import { formatTime, now, parseMoment } from '../../base/time.ts'
import type { Context } from '../../events/write.ts'
import type { Account } from './holdings.ts'
import { balancesOf, refuseNobody } from './rules.ts'
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
  if (first !== undefined && last !== undefined && last < first) {
    throw invalidArguments({ to: 'must not be before from.' })
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

/** @throws Failure invalid_argument */
export async function* journalOf(context: Context, days: Days): AsyncGenerator<JournalLine> {
  for await (const transfer of transfersOf(context, secondsOf(days))) {
    const amount = BigInt(transfer.amount)
    yield { transfer, account: transfer.debit, amount: -amount }
    yield { transfer, account: transfer.credit, amount }
  }
}

/** A transfer that changes what the affiliate is owed. */
export interface StatementLine {
  readonly transfer: Entry
  readonly amount: bigint
  /** What they are owed after it. */
  readonly balance: bigint
}

export interface Statement {
  readonly from: string | null
  readonly to: string
  readonly opening: bigint
  readonly lines: AsyncIterable<StatementLine>
}

const isOwed = (account: Account) => account === 'unpaid' || account === 'reserved'

/** @throws Failure no_affiliate, invalid_argument */
export async function statementOf(context: Context, affiliateId: number, days: Days): Promise<Statement> {
  const { first, last = now() } = secondsOf(days)
  const db = context.database.reader
  await refuseNobody(db, affiliateId)
  const before = first === undefined ? undefined : await balancesOf(db, affiliateId, first - 1)
  const opening = before ? before.unpaid + before.reserved : 0n
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
    const amount = BigInt(transfer.amount)
    const gained = (isOwed(transfer.credit) ? amount : 0n) - (isOwed(transfer.debit) ? amount : 0n)
    if (gained === 0n) continue
    balance += gained
    yield { transfer, amount: gained, balance }
  }
}

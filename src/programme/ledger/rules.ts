/**
 * The ledger: what each affiliate has earned, is owed and was paid, as the sum of transfers that never change. The `post…`
 * functions alone write transfers, and update the balances and the figures of the affiliate's record with them.
 * See docs/decisions/ledger.md.
 */

import { byName } from '../../base/by-name.ts'
import { Failure } from '../../base/errors.ts'
import { exactNumber } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { formatTime, now, parseMoment, parseSpan } from '../../base/time.ts'
import { deletedAmong } from '../../events/read.ts'
import type { Context } from '../../events/write.ts'
import { BoundViolation, type Db, type Tx } from '../../storage/database.ts'
import type { Page } from '../../storage/page.ts'
import { type Addition, addToCountersOf, affiliates } from '../affiliates/store.ts'
import { addSales, addSalesTogether, type SaleColumns } from '../commission/sales.ts'
import { type Reason, wordsOf } from './because.ts'
import {
  type Account,
  accounts,
  type Earning,
  gainIn,
  isCounted,
  type Move,
  movesOfPayment,
  movesOfReferral,
  netted,
  owedAccounts,
  type Payment,
} from './holdings.ts'
import type { BalancesArguments, LedgerArguments } from './schema.ts'
import * as store from './store.ts'

/** A referral before and after a change; a created or deleted one lacks a side. */
export interface Change {
  readonly before?: (Earning & SaleColumns) | undefined
  readonly after?: (Earning & SaleColumns) | undefined
}

/** Why a transfer is posted. */
interface Cause {
  readonly reason: Reason
  /** Null when no event stands behind it, as for samples of the demo. */
  readonly eventId: number | null
  readonly referralId?: number | null
  readonly payoutId?: number | null
  /** When it happened; now when omitted. */
  readonly at?: number
}

/** Posts what a change of one referral moves. */
export async function postReferral(
  tx: Tx,
  { before, after }: Change,
  cause: Cause & { referralId: number },
): Promise<void> {
  await post(tx, movesOfReferral(before, after), [{ before, after }], cause)
}

/**
 * Posts what a change of a payout moves: its known referrals together, and the rest by itself.
 * @param referrals those that it now pays and did not before, or the reverse
 */
export async function postPayout(
  tx: Tx,
  referrals: readonly Change[],
  payment: { readonly before?: Payment | undefined; readonly after?: Payment | undefined },
  cause: Cause & { payoutId: number },
): Promise<void> {
  const movesOfReferrals = referrals.flatMap(({ before, after }) => movesOfReferral(before, after))
  const otherMoves = movesOfPayment(payment.before, payment.after)
  await post(tx, [...netted(movesOfReferrals), ...otherMoves], referrals, cause)
}

/** Posts payouts that pay no known referrals. */
export async function postPayouts(
  tx: Tx,
  payments: readonly (Payment & { readonly payoutId: number; readonly eventId: number })[],
  reason: Reason,
): Promise<void> {
  const moves = payments.flatMap(payment => {
    const { payoutId, eventId } = payment
    return movesOfPayment(undefined, payment).map(move => ({ ...move, payoutId, eventId }))
  })
  await post(tx, moves, [], { reason, eventId: null })
}

/** What one item of a payout run moves. */
export interface RunMove extends Move {
  readonly runItemId: number
  readonly payoutId?: number
  /** That of the cause when omitted. */
  readonly reason?: Reason
  /** The event of the cause when omitted. */
  readonly eventId?: number
}

/** Posts what the items of a payout run move: one transfer for each item, however many referrals it has. */
export async function postRun(
  tx: Tx,
  moves: readonly RunMove[],
  cause: Pick<Cause, 'reason' | 'eventId'>,
): Promise<void> {
  await post(tx, moves, [], cause)
}

/** What is yet to be posted. */
interface Posting {
  readonly moves: readonly (Move & Partial<RunMove>)[]
  readonly changes: readonly Change[]
  readonly cause: Cause
}

/** Of transactions that post what they move at their end. */
const collected = new WeakMap<Tx, Posting[]>()

/** Posts at the end, and at once, what the work posts: many changes cost little more than one. */
export async function postTogether<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  const postings: Posting[] = []
  collected.set(tx, postings)
  try {
    return await addSalesTogether(tx, async () => {
      const result = await work()
      await postAll(tx, postings)
      return result
    })
  } finally {
    collected.delete(tx)
  }
}

async function post(
  tx: Tx,
  moves: Posting['moves'],
  changes: readonly Change[],
  cause: Cause,
): Promise<void> {
  const posting = { moves, changes, cause: { at: now(), ...cause } }
  const postings = collected.get(tx)
  if (postings) postings.push(posting)
  else await postAll(tx, [posting])
  await addSales(tx, changes)
}

/** The one function that writes transfers, balances and the figures that derive from them. */
async function postAll(tx: Tx, postings: readonly Posting[]): Promise<void> {
  const rows = postings.flatMap(transfersOf)
  const moves = postings.flatMap(posting => posting.moves)
  if (rows.length > 0) {
    await store.insertTransfers(tx, rows)
    const additions = additionsOf(moves)
    if (additions.length > 0) await store.addToBalances(tx, additions, refuseExceeded)
  }
  const changes = postings.flatMap(posting => posting.changes)
  await addToCountersOf(tx, figuresOf(moves, changes))
}

function transfersOf({ moves, cause }: Posting) {
  const { reason, eventId, referralId = null, payoutId = null, at = now() } = cause
  return moves.map(
    ({ affiliateId, from, to, amount, runItemId, payoutId: own, eventId: ownEvent, reason: ownReason }) => ({
      affiliate_id: affiliateId,
      amount,
      debit: from,
      credit: to,
      reason: ownReason ?? reason,
      referral_id: referralId,
      payout_id: own ?? payoutId,
      run_item_id: runItemId ?? null,
      event_id: ownEvent ?? eventId,
      at,
    }),
  )
}

/** @throws Failure balance_exceeded in place of the database's refusal */
function refuseExceeded(error: unknown): never {
  throw error instanceof BoundViolation ? new Failure('balance_exceeded') : error
}

/** In order of affiliate and account. */
function additionsOf(moves: readonly Move[]) {
  const sums = new Map<string, { affiliate_id: number; account: Account; amount: bigint }>()
  const add = (affiliate_id: number, account: Account, amount: bigint) => {
    const key = `${affiliate_id} ${account}`
    sums.set(key, { affiliate_id, account, amount: (sums.get(key)?.amount ?? 0n) + amount })
  }
  for (const { affiliateId, from, to, amount } of moves) {
    add(affiliateId, from, -amount)
    add(affiliateId, to, amount)
  }
  return [...sums.values()]
    .filter(({ amount }) => amount !== 0n)
    .sort((a, b) => a.affiliate_id - b.affiliate_id || (a.account < b.account ? -1 : 1))
}

/** Accounts that referrals end in when they are paid; payouts move the remainder between them. */
const paidAccounts: readonly Account[] = ['paid_out', 'external', 'difference']

/** What is added to the figures of affiliates, in order of identifier. */
function figuresOf(moves: readonly Move[], changes: readonly Change[]): [number, Addition][] {
  const byAffiliate = Map.groupBy(moves, ({ affiliateId }) => affiliateId)
  const ids = new Set(byAffiliate.keys())
  for (const { before, after } of changes) {
    for (const side of [before, after]) if (side) ids.add(side.affiliate_id)
  }
  return [...ids]
    .sort((a, b) => a - b)
    .map((id): [number, Addition] => {
      const movesOfAffiliate = byAffiliate.get(id) ?? []
      const earnings = gainOf(movesOfAffiliate, paidAccounts)
      const unpaid_earnings = gainOf(movesOfAffiliate, owedAccounts)
      const referrals = changes.reduce(
        (sum, { before, after }) => sum + countFor(id, after) - countFor(id, before),
        0,
      )
      return [
        id,
        {
          ...(earnings !== 0n && { earnings }),
          ...(unpaid_earnings !== 0n && { unpaid_earnings }),
          ...(referrals !== 0 && { referrals }),
        },
      ]
    })
    .filter(([, added]) => Object.keys(added).length > 0)
}

function gainOf(moves: readonly Move[], group: readonly Account[]): bigint {
  return moves.reduce((sum, move) => sum + gainIn(group, move), 0n)
}

function countFor(affiliateId: number, earning: Earning | undefined): number {
  return earning?.affiliate_id === affiliateId && isCounted(earning) ? 1 : 0
}

export type Balances = Readonly<Record<Account, bigint>>

/**
 * The balance of every account of an affiliate, even one that was deleted or never existed.
 * @param last the second at the end of which they are wanted; now when omitted
 */
export async function balancesOf(db: Db, affiliateId: number, last?: number): Promise<Balances> {
  const posted =
    last === undefined
      ? await store.balancesOf(db, affiliateId)
      : await store.balancesAt(db, affiliateId, last)
  return ofEach(posted)
}

const ofEach = (posted: ReadonlyMap<Account, bigint>): Balances =>
  byName(accounts, account => posted.get(account) ?? 0n)

/**
 * What an affiliate has earned and was not paid; below 0 when refunds came after the payment. Locked until the transaction
 * ends: who was deleted has no record to lock.
 */
export async function owedTo(db: Db, affiliateId: number): Promise<bigint> {
  return owedOf(ofEach(await store.lockBalancesOf(db, affiliateId)))
}

/** What of balances is owed. */
export const owedOf = (balances: Balances): bigint =>
  owedAccounts.reduce((sum, account) => sum + balances[account], 0n)

/** @throws Failure no_affiliate when there never was one, or nothing was ever posted for a deleted one */
export async function getBalances(context: Context, { affiliate_id: id, as_of }: BalancesArguments) {
  const db = context.database.replica
  await refuseNobody(db, id)
  const last = as_of === undefined ? undefined : parseMoment(as_of)!.last
  const { currency, decimals } = await context.settings.current()
  const balances = await balancesOf(db, id, last)
  return {
    affiliate_id: id,
    as_of: formatTime(last ?? now()),
    currency,
    ...Object.fromEntries(accounts.map(name => [name, exactNumber(balances[name], decimals)])),
  }
}

/** A transfer, and what the affiliate is owed after it. */
export type LedgerRow = store.Transfer & { readonly balance: bigint }

export const { orders } = store

/** Running balance at the end of each page, so that no page adds up again what earlier ones have. */
const places = new WeakMap<object, { readonly id: number; readonly balance: bigint }>()

/**
 * The rows and what the affiliate is owed after each are of one moment.
 * @throws Failure no_affiliate
 */
export function listLedger(context: Context, args: LedgerArguments, page: Page): Promise<LedgerRow[]> {
  return context.database.snapshot(db => readLedger(db, context, args, page))
}

async function readLedger(db: Db, context: Context, args: LedgerArguments, page: Page): Promise<LedgerRow[]> {
  const { affiliate_id: affiliateId } = args
  if (!places.has(context)) await refuseNobody(db, affiliateId)
  const rows = await store.listTransfers(db, criteriaOf(args), page)
  if (rows.length === 0) return []
  const ids = rows.map(row => row.id)
  const [after, last] = [Math.min(...ids) - 1, Math.max(...ids)]
  const { id: knownId, balance: start } = places.get(context) ?? { id: 0, balance: 0n }
  const range = { affiliateId, after: Math.min(knownId, after), last: Math.max(knownId, after) }
  const between = knownId === after ? 0n : await store.owedIn(db, range)
  const before = knownId < after ? start + between : start - between
  const owedById = await store.owedUpTo(db, ids, { affiliateId, after, last })
  places.set(
    context,
    page.descending ? { id: after, balance: before } : { id: last, balance: before + owedById.get(last)! },
  )
  return rows.map(row => ({ ...row, balance: before + owedById.get(row.id)! }))
}

export async function countLedger(context: Context, args: LedgerArguments): Promise<number> {
  return store.countTransfers(context.database.replica, criteriaOf(args))
}

/** The transfer as callers see it, with amounts in full precision. */
export function recordOf(row: LedgerRow, { decimals }: Settings) {
  return {
    transfer_id: row.id,
    affiliate_id: row.affiliate_id,
    date: formatTime(row.at),
    reason: row.reason,
    debit: row.debit,
    credit: row.credit,
    amount: exactNumber(BigInt(row.amount), decimals),
    balance: exactNumber(row.balance, decimals),
    referral_id: row.referral_id ?? 0,
    payout_id: row.payout_id ?? 0,
    run_item_id: row.run_item_id ?? 0,
    payout_run_id: row.payout_run_id ?? 0,
    event_id: row.event_id ?? 0,
    because: wordsOf(row),
  }
}

function criteriaOf({
  affiliate_id,
  account,
  reason,
  referral_id,
  payout_id,
  date,
}: LedgerArguments): store.Criteria {
  return {
    affiliateId: affiliate_id,
    ...(account?.length && { accounts: account }),
    ...(reason?.length && { reasons: reason }),
    ...(referral_id?.length && { referralIds: referral_id }),
    ...(payout_id?.length && { payoutIds: payout_id }),
    ...(date !== undefined && { at: parseSpan(date) }),
  }
}

/** @throws Failure no_affiliate unless there is or was such an affiliate */
export async function refuseNobody(db: Db, id: number): Promise<void> {
  if ((await affiliates.exists(db, id)) || (await store.isPosted(db, id))) return
  if ((await deletedAmong(db, 'affiliate', [id])).size === 0) throw new Failure('no_affiliate')
}

/**
 * The ledger: what each affiliate earned, is owed and was paid, as a sum over transfers that are never changed. `post` is
 * the only way to one, and moves the balances and the figures of the affiliate's record along.
 * See docs/decisions/ledger.md.
 */
import { now } from '../../base/time.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { type Addition, addToCounters } from '../affiliates/store.ts'
import {
  type Account,
  accounts,
  type Earning,
  isCounted,
  type Move,
  movesOfPayment,
  movesOfReferral,
  netted,
  type Payment,
} from './holdings.ts'
import * as store from './store.ts'

/** What a referral was and what it is; one that is made or deleted lacks a side. */
export interface Change {
  readonly before?: Earning | undefined
  readonly after?: Earning | undefined
}

/** What a transfer is posted because of. */
interface Cause {
  /** The action, such as 'referral.create'. */
  readonly reason: string
  readonly eventId: number | null
  readonly referralId?: number | null
  readonly payoutId?: number | null
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
 * @param referrals those that it pays now and did not before, and the other way round
 */
export async function postPayout(
  tx: Tx,
  referrals: readonly Change[],
  payment: { readonly before?: Payment | undefined; readonly after?: Payment | undefined },
  cause: Cause & { payoutId: number },
): Promise<void> {
  const known = referrals.flatMap(({ before, after }) => movesOfReferral(before, after))
  const rest = movesOfPayment(payment.before, payment.after)
  await post(tx, [...netted(known), ...rest], referrals, cause)
}

/** The one function that writes transfers, balances and the figures that derive from them. */
async function post(
  tx: Tx,
  moves: readonly Move[],
  changes: readonly Change[],
  { reason, eventId, referralId = null, payoutId = null }: Cause,
): Promise<void> {
  const at = now()
  if (moves.length > 0) {
    await store.insertTransfers(
      tx,
      moves.map(({ affiliateId, from, to, amount }) => ({
        affiliate_id: affiliateId,
        amount,
        debit: from,
        credit: to,
        reason,
        referral_id: referralId,
        payout_id: payoutId,
        run_item_id: null,
        event_id: eventId,
        at,
      })),
    )
    const added = additionsOf(moves)
    if (added.length > 0) await store.addToBalances(tx, added)
  }
  for (const [id, added] of figuresOf(moves, changes)) await addToCounters(tx, id, added)
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

const owed: readonly Account[] = ['unpaid', 'reserved']
/** What stands here because of referrals is what they paid; the rests of payouts go from one to another. */
const paid: readonly Account[] = ['paid_out', 'external', 'difference']

/** What the affiliates' records gain, in order of identifier. */
function figuresOf(moves: readonly Move[], changes: readonly Change[]): [number, Addition][] {
  const ids = new Set(moves.map(({ affiliateId }) => affiliateId))
  for (const { before, after } of changes) {
    for (const side of [before, after]) if (side) ids.add(side.affiliate_id)
  }
  return [...ids]
    .sort((a, b) => a - b)
    .map((id): [number, Addition] => {
      const own = moves.filter(({ affiliateId }) => affiliateId === id)
      const earnings = gainOf(own, paid)
      const unpaid_earnings = gainOf(own, owed)
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
  return moves.reduce((sum, { from, to, amount }) => {
    const gained = (group.includes(to) ? amount : 0n) - (group.includes(from) ? amount : 0n)
    return sum + gained
  }, 0n)
}

function countFor(affiliateId: number, earning: Earning | undefined): number {
  return earning?.affiliate_id === affiliateId && isCounted(earning) ? 1 : 0
}

export type Balances = Readonly<Record<Account, bigint>>

/**
 * The balance of every account of an affiliate, also of one that was deleted or never was.
 * @param last the second at the end of which they are wanted; now when omitted
 */
export async function balancesOf(db: Db, affiliateId: number, last?: number): Promise<Balances> {
  const known =
    last === undefined
      ? await store.balancesOf(db, affiliateId)
      : await store.balancesAt(db, affiliateId, last)
  return Object.fromEntries(accounts.map(account => [account, known.get(account) ?? 0n])) as Record<
    Account,
    bigint
  >
}

/**
 * Which account holds the amounts of referrals and payouts. Pure: a rule that changes one posts the difference between
 * what the record held before and what it holds now.
 *
 * A transfer has a positive amount that goes from `debit` to `credit`; a balance is what came in less what went out. So
 * earnings come from `commission`, whose balance is their total, below zero.
 */
import type { Referral } from '../referrals/referral.ts'
import { isCorrection, isEarned } from '../referrals/types.ts'

export const accounts = [
  'commission',
  'pending',
  'unpaid',
  'reserved',
  'paid_out',
  'external',
  'difference',
  'written_off',
] as const

export type Account = (typeof accounts)[number]

/** What stands in them together is what the affiliate is owed. */
export const owedAccounts = ['unpaid', 'reserved'] as const satisfies readonly Account[]

/** An amount that goes from one account to another; a negative one goes the other way. */
export interface Move {
  readonly affiliateId: number
  readonly from: Account
  readonly to: Account
  readonly amount: bigint
}

/** What a move adds to what stands in some accounts together. */
export const gainIn = (
  group: readonly Account[],
  { from, to, amount }: Pick<Move, 'from' | 'to' | 'amount'>,
): bigint => (group.includes(to) ? amount : 0n) - (group.includes(from) ? amount : 0n)

/** The columns of a referral that decide which account holds its amount. */
export type Earning = Pick<
  Referral,
  'affiliate_id' | 'status' | 'type' | 'amount' | 'payout_id' | 'run_item_id'
>

/** The columns of a payout that decide what it moves beside its referrals. */
export interface Payment {
  readonly affiliateId: number
  readonly status: 'paid' | 'failed'
  readonly amount: bigint
  /** The sum of the known referrals that it pays. */
  readonly net: bigint
  /** Whether it names a referral of another system, or none at all. */
  readonly external: boolean
}

/** Where the amount comes from, and goes back to. */
function sourceOf({ type }: Earning): Account {
  return type === 'write_off' ? 'written_off' : 'commission'
}

function accountOf(earning: Earning): Account {
  if (earning.status === 'pending') return 'pending'
  if (earning.status === 'unpaid') return earning.run_item_id === 0 ? 'unpaid' : 'reserved'
  if (earning.status === 'paid') return earning.payout_id === 0 ? 'external' : 'paid_out'
  return sourceOf(earning)
}

/** Whether the affiliate's count of referrals includes it: it is earned, and neither taken back nor written off. */
export function isCounted(earning: Earning): boolean {
  return isEarned(earning) && !isCorrection(earning.type)
}

/** The moves from a referral before a change to the one after; a created or deleted one lacks a side. */
export function movesOfReferral(before: Earning | undefined, after: Earning | undefined): Move[] {
  if (before && after && before.affiliate_id === after.affiliate_id && sourceOf(before) === sourceOf(after)) {
    const { affiliate_id: affiliateId } = after
    const [held, holds] = [BigInt(before.amount), BigInt(after.amount)]
    const [from, to] = [accountOf(before), accountOf(after)]
    // A payout run item goes along with the amount that it holds.
    return netted([
      { affiliateId, from, to, amount: held },
      { affiliateId, from: sourceOf(after), to, amount: holds - held },
    ])
  }
  return netted([...(before ? [moveBack(before)] : []), ...(after ? [earned(after)] : [])])
}

function earned(earning: Earning): Move {
  const { affiliate_id: affiliateId, amount } = earning
  return { affiliateId, from: sourceOf(earning), to: accountOf(earning), amount: BigInt(amount) }
}

function moveBack(earning: Earning): Move {
  const { from: to, to: from, ...move } = earned(earning)
  return { ...move, from, to }
}

/** The moves of what a payout pays beyond its referrals, or less than them. */
export function movesOfPayment(before: Payment | undefined, after: Payment | undefined): Move[] {
  const transferAfter = after && restOf(after)
  const transferBefore = before && restOf(before)
  return netted([
    ...(transferBefore ? [{ ...transferBefore, amount: -transferBefore.amount }] : []),
    ...(transferAfter ? [transferAfter] : []),
  ])
}

function restOf({ affiliateId, status, amount, net, external }: Payment): Move | undefined {
  if (status !== 'paid') return undefined
  const beyond = amount - net
  return {
    affiliateId,
    from: beyond > 0n && external ? 'external' : 'difference',
    to: 'paid_out',
    amount: beyond,
  }
}

/** One positive move for each affiliate and pair of accounts; moves in both directions cancel out. */
export function netted(moves: readonly Move[]): Move[] {
  const sums = new Map<string, Move>()
  for (const move of moves) {
    if (move.from === move.to) continue
    const [from, to] = move.from < move.to ? [move.from, move.to] : [move.to, move.from]
    const key = `${move.affiliateId} ${from} ${to}`
    const amount = (sums.get(key)?.amount ?? 0n) + (from === move.from ? move.amount : -move.amount)
    sums.set(key, { affiliateId: move.affiliateId, from, to, amount })
  }
  return [...sums.values()]
    .filter(({ amount }) => amount !== 0n)
    .map(move => (move.amount > 0n ? move : { ...move, from: move.to, to: move.from, amount: -move.amount }))
}

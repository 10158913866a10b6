/**
 * What is left of a sale after refunds and disputes. Pure, and a function of a set: neither the order nor the repetition
 * of reports makes a difference.
 */
import { type Fraction, fraction, ONE, ZERO } from '../../base/fraction.ts'
import { largest } from '../../base/money.ts'
import type { ConversionKind } from './conversion.ts'

/** A refund or dispute of a payment, in the minor unit of its currency. */
export interface Reversal {
  readonly kind: ConversionKind
  readonly part: string
  readonly cumulative: number
  readonly amount: number
  /** In seconds. */
  readonly occurred_at: number
}

/** By part: the same part under two names of the payment counts once. */
function partsOf(reversals: readonly Reversal[], kind: ConversionKind): Map<string, bigint> {
  const parts = new Map<string, bigint>()
  for (const reversal of reversals) {
    if (reversal.kind !== kind || reversal.cumulative === 1) continue
    parts.set(reversal.part, largest([parts.get(reversal.part) ?? 0n, BigInt(reversal.amount)]))
  }
  return parts
}

const sum = (amounts: Iterable<bigint>): bigint => [...amounts].reduce((total, amount) => total + amount, 0n)

const TOTAL = /(?:^| )total:[\d.]+$/

/**
 * The part under which a total of refunds is stored, since totals are distinguished by their amounts.
 * @param of the refunded part of the payment, such as one of several charges; empty for all of it. The stored form is
 * accepted as well.
 */
export function partOfTotal(of: string, amount: string): string {
  const name = of.replace(TOTAL, '')
  return `${name}${name && ' '}total:${amount}`
}

/** Whether a total of refunds is stored under the part. */
export const isPartOfTotal = (part: string): boolean => TOTAL.test(part)

/** The inverse of `partOfTotal`; empty for parts named by the caller. */
const totalOf = ({ part }: Reversal) => (isPartOfTotal(part) ? part.replace(TOTAL, '') : '')

/** Totals of parts add up. A total includes the parts, so the largest counts. */
export function refunded(reversals: readonly Reversal[]): bigint {
  const totals = reversals.filter(({ kind, cumulative }) => kind === 'refund' && cumulative === 1)
  const { '': whole = [], ...charges } = Object.groupBy(totals, totalOf)
  const largestOf = (some: readonly Reversal[] = []) => largest(some.map(({ amount }) => BigInt(amount)))
  return largest([
    sum(partsOf(reversals, 'refund').values()),
    sum(Object.values(charges).map(largestOf)),
    largestOf(whole),
  ])
}

/** The disputed amount that is not won back. */
export function disputed(reversals: readonly Reversal[]): bigint {
  const won = partsOf(reversals, 'dispute_won')
  const open = [...partsOf(reversals, 'dispute')].filter(([part]) => !won.has(part))
  const parts = sum(open.map(([, amount]) => amount))
  const all = disputedInAll(reversals)
  return parts > all ? parts : all
}

/**
 * A dispute can end, so its last total counts; within one second, the larger. What was won before it is no part of it any
 * more.
 */
function disputedInAll(reversals: readonly Reversal[]): bigint {
  const totals = reversals.filter(({ cumulative }) => cumulative === 1)
  const disputes = totals.filter(({ kind }) => kind === 'dispute')
  const last = Math.max(...disputes.map(({ occurred_at }) => occurred_at))
  const won = totals.filter(({ kind, occurred_at }) => kind === 'dispute_won' && occurred_at >= last)
  const amounts = (some: readonly Reversal[]) => some.map(({ amount }) => BigInt(amount))
  return largest(amounts(disputes.filter(({ occurred_at }) => occurred_at === last))) - largest(amounts(won))
}

/** Whether it reports all disputes up to its time, or what of these was won. */
export const isTotalOfDisputes = ({ kind, cumulative }: Pick<Reversal, 'kind' | 'cumulative'>): boolean =>
  cumulative === 1 && (kind === 'dispute' || kind === 'dispute_won')

/** Whether a dispute takes nothing back any more: it was won, or its shop says in a later total that less is disputed. */
export const isOver = ({ cumulative, part, amount }: Reversal, reversals: readonly Reversal[]): boolean =>
  cumulative === 1 ? disputedInAll(reversals) < BigInt(amount) : partsOf(reversals, 'dispute_won').has(part)

/** How many totals of disputes are kept of those that follow an equal one. */
const FEW = 20

/**
 * Whether a total of disputes is worth being recorded. One that is equal to the last is as long as they are few, since another
 * that came between the two may be reported after them.
 * @param total in the minor unit of the currency of the reversals
 */
export function saysMore(reversals: readonly Reversal[], total: bigint): boolean {
  const totals = reversals.filter(({ kind, cumulative }) => kind === 'dispute' && cumulative === 1)
  return totals.length < FEW || disputedInAll(reversals) !== total
}

/**
 * @param paid what the customer paid; if 0, the first refund takes back everything
 * @returns from 0 to 1
 */
export function leftOf(paid: bigint, reversals: readonly Reversal[]): Fraction {
  if (reversals.length === 0) return ONE
  const takenBack = refunded(reversals) + disputed(reversals)
  if (paid === 0n) return isTakenBack(reversals) ? ZERO : ONE
  return takenBack >= paid ? ZERO : fraction(paid - takenBack, paid)
}

function isTakenBack(reversals: readonly Reversal[]): boolean {
  const won = new Set(reversals.filter(({ kind }) => kind === 'dispute_won').map(({ part }) => part))
  return reversals.some(({ kind, part }) => kind === 'refund' || (kind === 'dispute' && !won.has(part)))
}

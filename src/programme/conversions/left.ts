/**
 * What is left of a sale after refunds and disputes. Pure, and a function of a set: neither the order nor the repetition
 * of reports makes a difference.
 */
import { type Fraction, fraction, ONE, ZERO } from '../../base/fraction.ts'
import type { ConversionKind } from './conversion.ts'

/** A refund or dispute of a payment, in the minor unit of its currency. */
export interface Taking {
  readonly kind: ConversionKind
  readonly part: string
  readonly cumulative: number
  readonly amount: number
  /** In seconds. */
  readonly occurred_at: number
}

const largest = (amounts: Iterable<bigint>): bigint => {
  let most = 0n
  for (const amount of amounts) if (amount > most) most = amount
  return most
}

/** By part: the same part under two names of the payment counts once. */
function partsOf(takings: readonly Taking[], kind: ConversionKind): Map<string, bigint> {
  const parts = new Map<string, bigint>()
  for (const taking of takings) {
    if (taking.kind !== kind || taking.cumulative === 1) continue
    parts.set(taking.part, largest([parts.get(taking.part) ?? 0n, BigInt(taking.amount)]))
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
const totalOf = ({ part }: Taking) => (isPartOfTotal(part) ? part.replace(TOTAL, '') : '')

/** Totals of parts add up. A total includes the parts, so the largest counts. */
export function refunded(takings: readonly Taking[]): bigint {
  const totals = takings.filter(({ kind, cumulative }) => kind === 'refund' && cumulative === 1)
  const { '': whole = [], ...charges } = Object.groupBy(totals, totalOf)
  const largestOf = (some: readonly Taking[] = []) => largest(some.map(({ amount }) => BigInt(amount)))
  return largest([
    sum(partsOf(takings, 'refund').values()),
    sum(Object.values(charges).map(largestOf)),
    largestOf(whole),
  ])
}

/** The disputed amount that is not won back. */
export function disputed(takings: readonly Taking[]): bigint {
  const won = partsOf(takings, 'dispute_won')
  const open = [...partsOf(takings, 'dispute')].filter(([part]) => !won.has(part))
  const parts = sum(open.map(([, amount]) => amount))
  const all = disputedInAll(takings)
  return parts > all ? parts : all
}

/**
 * A dispute can end, so its last total counts; within one second, the larger. What was won before it is no part of it any
 * more.
 */
function disputedInAll(takings: readonly Taking[]): bigint {
  const totals = takings.filter(({ cumulative }) => cumulative === 1)
  const disputes = totals.filter(({ kind }) => kind === 'dispute')
  const last = Math.max(...disputes.map(({ occurred_at }) => occurred_at))
  const won = totals.filter(({ kind, occurred_at }) => kind === 'dispute_won' && occurred_at >= last)
  const amounts = (some: readonly Taking[]) => some.map(({ amount }) => BigInt(amount))
  return largest(amounts(disputes.filter(({ occurred_at }) => occurred_at === last))) - largest(amounts(won))
}

/** Whether it reports all disputes up to its time, or what of these was won. */
export const isTotalOfDisputes = ({ kind, cumulative }: Pick<Taking, 'kind' | 'cumulative'>): boolean =>
  cumulative === 1 && (kind === 'dispute' || kind === 'dispute_won')

/** Whether a dispute takes nothing back any more: it was won, or its shop says in a later total that less is disputed. */
export const isOver = ({ cumulative, part, amount }: Taking, takings: readonly Taking[]): boolean =>
  cumulative === 1 ? disputedInAll(takings) < BigInt(amount) : partsOf(takings, 'dispute_won').has(part)

/** How many totals of disputes are kept of those that follow an equal one. */
const FEW = 20

/**
 * Whether a total of disputes is worth being recorded. One that is equal to the last is as long as they are few, since another
 * that came between the two may be reported after them.
 * @param total in the minor unit of the currency of the takings
 */
export function saysMore(takings: readonly Taking[], total: bigint): boolean {
  const totals = takings.filter(({ kind, cumulative }) => kind === 'dispute' && cumulative === 1)
  return totals.length < FEW || disputedInAll(takings) !== total
}

/**
 * @param paid what the customer paid; if 0, the first refund takes back everything
 * @returns from 0 to 1
 */
export function leftOf(paid: bigint, takings: readonly Taking[]): Fraction {
  if (takings.length === 0) return ONE
  const takenBack = refunded(takings) + disputed(takings)
  if (paid === 0n) return isTakenBack(takings) ? ZERO : ONE
  return takenBack >= paid ? ZERO : fraction(paid - takenBack, paid)
}

function isTakenBack(takings: readonly Taking[]): boolean {
  const won = new Set(takings.filter(({ kind }) => kind === 'dispute_won').map(({ part }) => part))
  return takings.some(({ kind, part }) => kind === 'refund' || (kind === 'dispute' && !won.has(part)))
}

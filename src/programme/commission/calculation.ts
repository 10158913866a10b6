/**
 * The calculation of a referral's amount, stored as text with the referral: what it was judged by may change later.
 * Pure.
 */
import { decimalsOf } from '../../base/currencies.ts'
import {
  type Fraction,
  fraction,
  ONE,
  parseFraction,
  plus,
  rounded,
  times,
  whole,
} from '../../base/fraction.ts'
import { exchangeOf, type Judgement, type Part, totalOf } from './engine.ts'
import type { Line, Sale } from './model.ts'

/** The exchange rate that was applied. */
export interface AppliedRate {
  readonly id: number
  /** What one whole unit is in the other currency, as decimal text. */
  readonly rate: string
  readonly from: string
  readonly to: string
  /** From when on it applies, in seconds. */
  readonly date: number
}

export interface Calculation {
  /** The sale; null where an amount was sent. */
  readonly sale: Sale | null
  readonly parts: readonly Part[]
  readonly exchange: AppliedRate | null
  /** The part of the sale that remains after refunds. */
  readonly left: Fraction
  /** Exact, and in minor units; null while it waits for a rate or a rule. */
  readonly result: { readonly exact: Fraction; readonly amount: bigint } | null
  readonly holdDays: number | null
  /** The status of the referral once it is no draft, or once nothing takes all of the sale back any more. */
  readonly wanted: Target | null
  /** The part of the sale that the referral and its refunds stand for, where that is not `left`. */
  readonly covered?: Fraction
  /** What a person has set the amount to, its refunds included, and the part of the sale that was left then. */
  readonly corrected?: { readonly amount: bigint; readonly left: Fraction }
  /** What persons have added by rejecting, deleting or changing refunds of the referral. */
  readonly waived?: bigint
}

export interface Target {
  /** Null when no status was sent: pending, or unpaid where the rule holds it for no day. */
  readonly status: 'pending' | 'unpaid' | 'paid' | 'rejected' | null
  readonly holdUntil: number | null
  /** Pending while it is held, and unpaid afterwards. */
  readonly byHold?: true
}

export function calculationOf(
  judgement: Judgement,
  {
    sale,
    wanted,
    exchange,
    left = ONE,
  }: Pick<Calculation, 'sale' | 'exchange' | 'wanted'> & { readonly left?: Fraction },
): Calculation {
  const { parts, reason, exact, amount, holdDays } = judgement
  if (reason !== '') return { sale, wanted, parts, exchange, left, result: null, holdDays }
  return { sale: null, wanted: null, parts, exchange, left, result: { exact, amount }, holdDays }
}

/** What is earned by the remaining part of the sale, at the original rates. */
export function earnedOf({ parts, exchange }: Calculation, left: Fraction): Judgement {
  return totalOf(parts, exchange ? factorOf(exchange) : ONE, left)
}

/** The part of the sale that the referral and its refunds stand for. */
export const coveredOf = ({ covered, left }: Calculation): Fraction => covered ?? left

/**
 * What the referral and its refunds should come to, with what persons have decided: an amount that was corrected by
 * hand shrinks with the sale like any other, and what was waived stays so.
 * @param left the part of the sale that remains
 * @returns in minor units; undefined while it waits for a rate or a rule
 */
export function targetOf(calculation: Calculation, left: Fraction): bigint | undefined {
  const { corrected, waived = 0n, result } = calculation
  if (corrected) return rounded(plus(shrunk(corrected, left), whole(waived)))
  return result === null ? undefined : earnedOf(calculation, left).amount + waived
}

function shrunk({ amount, left: then }: NonNullable<Calculation['corrected']>, left: Fraction): Fraction {
  // Where nothing was left, it was a present.
  if (then.numerator === 0n) return whole(amount)
  return times(whole(amount), fraction(left.numerator * then.denominator, left.denominator * then.numerator))
}

/** The calculation once a person has set the amount, of which refunds stand beside the referral. */
export function correctedBy(calculation: Calculation, amount: number, refunds: number): Calculation {
  const { waived: _waived, ...rest } = calculation
  return { ...rest, corrected: { amount: BigInt(amount + refunds), left: coveredOf(calculation) } }
}

function factorOf({ rate, from, to }: AppliedRate): Fraction {
  return exchangeOf(parseFraction(rate)!, decimalsOf(from)!, decimalsOf(to)!)
}

const fractions = new Set(['base', 'earned', 'left', 'exact', 'covered'])
const integers = new Set(['amount', 'tax', 'shipping', 'waived'])

export function calculationText(calculation: Calculation): string {
  return JSON.stringify(calculation, (_name, value: unknown) => {
    if (typeof value === 'bigint') return String(value)
    return isFraction(value) ? `${value.numerator}/${value.denominator}` : value
  })
}

/** @param text as `calculationText` writes it */
export function parseCalculation(text: string): Calculation | undefined {
  if (text === '') return undefined
  return JSON.parse(text, (name, value: unknown) => {
    if (typeof value !== 'string') return value
    if (integers.has(name)) return BigInt(value)
    if (!fractions.has(name)) return value
    const [numerator, denominator] = value.split('/')
    return fraction(BigInt(numerator!), BigInt(denominator!))
  })
}

function isFraction(value: unknown): value is Fraction {
  return typeof value === 'object' && value !== null && 'numerator' in value && 'denominator' in value
}

/** The lines of a sale out of products as clients send them; products without a price are left out. */
export function linesOf(products: unknown, toMinor: (value: number) => number | undefined): Line[] {
  if (!Array.isArray(products)) return []
  return products.flatMap(product => lineOf(product, toMinor) ?? [])
}

function lineOf(product: unknown, toMinor: (value: number) => number | undefined): Line | undefined {
  if (typeof product !== 'object' || product === null) return undefined
  const of: Record<string, unknown> = { ...product }
  const price = toMinor(Number(of.amount ?? of.price))
  const name = of.product ?? of.id ?? of.name
  if (price === undefined || (typeof name !== 'string' && typeof name !== 'number')) return undefined
  const quantity = Number(of.quantity ?? 1)
  const categories = Array.isArray(of.categories) ? of.categories : [of.category ?? []].flat()
  return {
    product: String(name),
    categories: categories.filter(category => typeof category === 'string'),
    quantity: Number.isSafeInteger(quantity) && quantity > 0 ? quantity : 1,
    amount: BigInt(price),
  }
}

/**
 * The calculation of a referral's amount, stored as text with the referral: what it was judged by may change later.
 * Pure.
 * changed. Pure.
 */
import { decimalsOf } from '../../base/currencies.ts'
import { type Fraction, fraction, ONE, parseFraction } from '../../base/fraction.ts'
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
  /** The status of the referral once it is no draft. */
  readonly wanted: Target | null
}

export interface Target {
  /** Null when no status was sent: pending, or unpaid where the rule holds it for no day. */
  readonly status: 'pending' | 'unpaid' | 'paid' | 'rejected' | null
  readonly holdUntil: number | null
  /** Pending while it is held, and unpaid afterwards. */
  readonly byHold?: true
}

/** The target is stored only while the referral is a draft. */
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

function factorOf({ rate, from, to }: AppliedRate): Fraction {
  return exchangeOf(parseFraction(rate)!, decimalsOf(from)!, decimalsOf(to)!)
}

const fractions = new Set(['base', 'earned', 'left', 'exact'])
const integers = new Set(['amount', 'tax', 'shipping'])

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

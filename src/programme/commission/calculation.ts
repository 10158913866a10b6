/**
 * What a calculation of a referral's amount consists of, and its text, which is stored with the referral, since what it follows
 * from may change later. Pure.
 */
import { type Fraction, fraction, ONE } from '../../base/fraction.ts'
import type { Judgement, Part } from './engine.ts'
import { type Line, NO_DETAILS, type Sale } from './sale.ts'

/** The applied exchange rate. */
export interface AppliedRate {
  readonly id: number
  /** Value of one whole unit in the other currency, as decimal text. */
  readonly rate: string
  readonly from: string
  readonly to: string
  /** Valid from, in seconds. */
  readonly date: number
}

export interface Calculation {
  /** The sale; null if an amount was sent. */
  readonly sale: Sale | null
  readonly parts: readonly Part[]
  readonly exchange: AppliedRate | null
  /** The currency of the sale, if it is not the programme's and no exchange rate was needed. */
  readonly currency?: string
  /** The part of the sale that remains after refunds. */
  readonly left: Fraction
  /** Nothing is left because another report of its payment earns. */
  readonly duplicate?: true
  /** Exact, and in minor units; null while a rate or a rule is missing. */
  readonly result: { readonly exact: Fraction; readonly amount: bigint } | null
  readonly holdDays: number | null
  /** Status of the referral once it is no longer a draft, or no longer fully refunded. */
  readonly wanted: Target | null
  /** The part of the sale that the referral and its refunds stand for, if it is not `left`. */
  readonly covered?: Fraction
  /** Nothing of the sale is left, so it does not count as one. Follows from `left` and `covered`; stored for queries. */
  readonly gone?: true
  /** The amount that a person has set, and the part of the sale that it stands for. */
  readonly corrected?: { readonly amount: bigint; readonly left: Fraction }
  /** The affiliate by whose terms it was computed, if a person has moved the referral to another one since. */
  readonly earner?: number
  /** What people have added by rejecting, deleting or changing refunds of the referral. */
  readonly waivers?: readonly Waiver[]
  /** The most that is owed including `waivers`, if people's decisions make it differ from what the whole sale earns. */
  readonly atMost?: bigint
}

/** What people have given back of what a report takes back; negative if they have taken back more. */
export interface Waiver {
  /** The refund or dispute. */
  readonly conversion: number
  readonly amount: bigint
}

export interface Target {
  /** Null if no status was sent: pending, or unpaid if the rule has no hold. */
  readonly status: 'pending' | 'unpaid' | 'paid' | 'rejected' | null
  readonly holdUntil: number | null
  /** Pending during the hold, unpaid afterwards. */
  readonly byHold?: true
}

/** What a calculation has besides the judgement. */
export type Inputs = Pick<Calculation, 'sale' | 'wanted' | 'exchange' | 'currency' | 'duplicate' | 'earner'> &
  Partial<Pick<Calculation, 'left'>>

/** The calculation of a judgement. While a rate or a rule is missing, it contains the sale, to be judged again. */
export function calculationOf(
  { parts, reason, exact, amount, holdDays }: Judgement,
  { sale, wanted, ...others }: Inputs,
): Calculation {
  const of = { parts, left: ONE, ...others, holdDays }
  return reason === ''
    ? { ...of, sale: null, wanted: null, result: { exact, amount } }
    : { ...of, sale, wanted, result: null }
}

/** The part of the sale that the referral and its refunds stand for. */
export const coveredOf = ({ covered, left }: Calculation): Fraction => covered ?? left

/** Everything in a calculation that has amounts. */
type Amounts = Calculation | Waiver | NonNullable<Calculation['result' | 'corrected']> | Sale | Line | Part
type NamesIn<T, V> = T extends unknown
  ? { [N in keyof T]-?: NonNullable<T[N]> extends V ? N : never }[keyof T]
  : never
type Named<V> = Readonly<Record<NamesIn<Amounts, V>, true>>

/** JSON has neither fractions nor large integers, so they are recognised by their names; a missing name does not compile. */
const fractions: Named<Fraction> = { base: true, earned: true, left: true, exact: true, covered: true }
const integers: Named<bigint> = { amount: true, tax: true, shipping: true, atMost: true }

/** The calculation as it is stored. */
export function calculationText({ gone: _gone, ...calculation }: Calculation): string {
  const isGone = coveredOf(calculation).numerator === 0n
  return JSON.stringify({ ...calculation, ...(isGone && { gone: true }) }, (_name, value: unknown) => {
    if (typeof value === 'bigint') return String(value)
    return isFraction(value) ? `${value.numerator}/${value.denominator}` : value
  })
}

/** Part of the text of each calculation of whose sale nothing is left. No product name contains it: its quotes are escaped. */
export const GONE = '"gone":true'
/** Part of the text of each calculation whose sale was reported twice. */
export const TWICE = '"duplicate":true'

/** @param text as `calculationText` writes it */
export function parseCalculation(text: string): Calculation | undefined {
  if (text === '') return undefined
  return JSON.parse(text, (name, value: unknown) => {
    // Details that were added to sales later.
    if (name === 'sale' && value !== null) return Object.assign({}, NO_DETAILS, value)
    if (typeof value !== 'string') return value
    if (Object.hasOwn(integers, name)) return BigInt(value)
    if (!Object.hasOwn(fractions, name)) return value
    const [numerator, denominator] = value.split('/')
    return fraction(BigInt(numerator!), BigInt(denominator!))
  })
}

function isFraction(value: unknown): value is Fraction {
  return typeof value === 'object' && value !== null && 'numerator' in value && 'denominator' in value
}

/** What commission is judged by: a sale, who earns by it, and the rules. */
import type { Condition, Tier } from './conditions.ts'

export const kinds = ['lead', 'sale', 'renewal'] as const
export type SaleKind = (typeof kinds)[number]

/** What was bought of one product. */
export interface Line {
  readonly product: string
  readonly categories: readonly string[]
  readonly quantity: number
  /**
   * * In the minor unit of the sale's currency. Amounts of lines only say how the sale's amount is divided among them.
   */
  readonly amount: bigint
}

/** Amounts are in the minor unit of the sale's currency. */
export interface Sale {
  readonly kind: SaleKind
  /** What the customer pays, tax and shipping included, after discounts. */
  readonly amount: bigint
  readonly tax: bigint
  readonly shipping: bigint
  readonly currency: string
  /** Decimals of the currency. */
  readonly decimals: number
  readonly lines: readonly Line[]
  /** ISO 3166, '' when it is not known; so are coupon and campaign. */
  readonly country: string
  readonly coupon: string
  readonly campaign: string
  /** In seconds. */
  readonly occurredAt: number
  /** The how many-th order of the customer it is, from 1; null when it is not known. */
  readonly order: number | null
  /** Whole months since the customer's first order, see `monthsSince`; null when it is not known. */
  readonly months: number | null
}

/** Who earns. */
export interface Earner {
  readonly id: number
  readonly groupId: number | null
  /** The own rate in ten-thousandths, and its type; null when not set. */
  readonly rate: number | null
  readonly rateType: string | null
  /** Of the sales before this one; needed when `RuleSet.asks` for them. Volumes in the programme's minor unit. */
  readonly tiers?: Readonly<Record<Tier, bigint>>
}

export type RateType = 'percentage' | 'flat' | 'per_item'

export type Scope = 'affiliate' | 'group' | 'programme'

/** One version of a rule. */
export interface Rule {
  readonly id: number
  /** The same for all versions. */
  readonly series: number
  readonly version: number
  readonly name: string
  readonly scope: Scope
  /** Whose it is, where it is an affiliate's or a group's. */
  readonly affiliateId: number | null
  readonly groupId: number | null
  /** Lower ones are tried before higher ones. */
  readonly priority: number
  /** All kinds when empty. */
  readonly kinds: readonly SaleKind[]
  readonly conditions: readonly Condition[]
  readonly type: RateType
  /** In ten-thousandths: of a percent, or of one unit of the programme's currency. */
  readonly rate: number
  /** What a percentage is taken of: with or without tax and shipping. */
  readonly basis: 'net' | 'gross'
  /** For how many months after the customer's first order it pays, and for how many orders; null is no limit. */
  readonly mostMonths: number | null
  readonly mostPayments: number | null
  readonly holdDays: number | null
  /** In seconds, inclusive. */
  readonly from: number | null
  readonly until: number | null
}

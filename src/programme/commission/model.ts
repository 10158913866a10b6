/** Inputs of commission: a sale, the earner, and the rules. */
import type { Condition, Tier } from './conditions.ts'

export const kinds = ['lead', 'sale', 'renewal'] as const
export type SaleKind = (typeof kinds)[number]

/** One product in a sale. */
export interface Line {
  readonly product: string
  readonly categories: readonly string[]
  readonly quantity: number
  /** In the minor unit of the sale's currency. Amounts of lines only divide the sale's amount among them. */
  readonly amount: bigint
}

/** Amounts are in the minor unit of the sale's currency. */
export interface Sale {
  readonly kind: SaleKind
  /** What the customer pays, including tax and shipping, after discounts. */
  readonly amount: bigint
  readonly tax: bigint
  readonly shipping: bigint
  readonly currency: string
  /** Decimals of the currency. */
  readonly decimals: number
  readonly lines: readonly Line[]
  /** ISO 3166; '' if unknown, like coupon and campaign. */
  readonly country: string
  readonly coupon: string
  readonly campaign: string
  /** In seconds. */
  readonly occurredAt: number
  /** Ordinal of the order among the customer's, from 1; null if unknown. */
  readonly order: number | null
  /** Whole months since the customer's first order, see `monthsSince`; null if unknown. */
  readonly months: number | null
}

/** The affiliate who earns. */
export interface Earner {
  readonly id: number
  readonly groupId: number | null
  /** Own rate in ten-thousandths, and its type; null if not set. */
  readonly rate: number | null
  readonly rateType: string | null
  /** Sales before this one; needed if `RuleSet.asks` for them. Volumes in the programme's minor unit. */
  readonly tiers?: Readonly<Record<Tier, bigint>>
}

export type RateType = 'percentage' | 'flat' | 'per_item'

export type Scope = 'affiliate' | 'group' | 'programme'

/** One version of a rule. */
export interface Rule {
  readonly id: number
  /** Shared by all versions. */
  readonly series: number
  readonly version: number
  readonly name: string
  readonly scope: Scope
  /** The affiliate or group it belongs to, if any. */
  readonly affiliateId: number | null
  readonly groupId: number | null
  /** Lower numbers are tried first. */
  readonly priority: number
  /** Empty means all kinds. */
  readonly kinds: readonly SaleKind[]
  readonly conditions: readonly Condition[]
  readonly type: RateType
  /** In ten-thousandths: of a percent, or of one unit of the programme's currency. */
  readonly rate: number
  /** Base of a percentage: net or gross of tax and shipping. */
  readonly basis: 'net' | 'gross'
  /** Limits in months since the customer's first order, and in orders; null means none. */
  readonly mostMonths: number | null
  readonly mostPayments: number | null
  readonly holdDays: number | null
  /** In seconds, inclusive. */
  readonly from: number | null
  readonly until: number | null
}

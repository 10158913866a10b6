/** What a sale is judged by: the rules. */
import type { Condition } from './conditions.ts'
import type { SaleKind } from './sale.ts'

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

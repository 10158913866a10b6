/** What commission is judged of: a sale, and who earns by it. */
import { toUnits } from '../../base/money.ts'

export const kinds = ['lead', 'sale', 'renewal'] as const
export type SaleKind = (typeof kinds)[number]

/** What was bought of one product. */
export interface Line {
  readonly product: string
  readonly categories: readonly string[]
  readonly quantity: number
  /** In the minor unit of the sale's currency: only says how the sale's amount is divided among the lines. */
  readonly amount: bigint
}

interface SentLine {
  readonly product?: string
  readonly category?: string
  readonly quantity?: number
  /** In whole units. */
  readonly amount?: number
}

/**
 * A line as clients send it.
 * @param decimals of the sale's currency
 */
export function lineFrom(
  { product = '', category = '', quantity = 1, amount = 0 }: SentLine,
  decimals: number,
): Line {
  return {
    product,
    categories: category === '' ? [] : [category],
    quantity,
    amount: BigInt(toUnits(amount, decimals) ?? 0),
  }
}

/** What a report may leave unsaid of a sale. */
interface Details {
  /** ISO 3166, '' when it is not known; so are coupon and campaign. */
  readonly country: string
  readonly coupon: string
  readonly campaign: string
  /** Which order of the customer it is, counted from 1; null when it is not known. */
  readonly order: number | null
  /** Whole months since the customer's first order, see `monthsSince`; null when it is not known. */
  readonly months: number | null
}

export const NO_DETAILS: Details = { country: '', coupon: '', campaign: '', order: null, months: null }

/** Amounts are in the minor unit of the sale's currency. */
export interface Sale extends Details {
  readonly kind: SaleKind
  /** What the customer pays, tax and shipping included, after discounts. */
  readonly amount: bigint
  readonly tax: bigint
  readonly shipping: bigint
  readonly currency: string
  /** Decimals of the currency. */
  readonly decimals: number
  readonly lines: readonly Line[]
  /** In seconds. */
  readonly occurredAt: number
}

/** Who earns. */
export interface Earner {
  readonly id: number
  readonly groupId: number | null
  /** The own rate in ten-thousandths, and its type; null when not set. */
  readonly rate: number | null
  readonly rateType: string | null
  /** Needed when `asksForSales`. */
  readonly tiers?: EarlierSales
}

/** The affiliate's sales before this one: how many, and what their customers paid, in the programme's minor unit. */
export interface EarlierSales {
  readonly sales_in_month: bigint
  readonly sales_ever: bigint
  readonly volume_in_month: bigint
  readonly volume_ever: bigint
}

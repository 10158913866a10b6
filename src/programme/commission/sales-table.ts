import { integer, neither, type RowsOf, type Table } from '../../storage/table.ts'

const columns = {
  affiliate_id: integer({ ...neither, references: { table: 'affiliates', person: true, outlives: true } }),
  /** Its first second, UTC. */
  month: integer(neither),
  sales: integer(neither),
  /** What customers have paid, in two columns as sums are, see `storage/sums.ts`. */
  volume_parts: integer({ personal: false, money: 'derived' }),
  volume_rest: integer({ personal: false, money: 'derived' }),
} as const

/** What an affiliate has sold in a month, which tiers ask for: the sum of their referrals. */
export const salesMonthsTable = {
  name: 'sales_months',
  key: ['affiliate_id', 'month'],
  columns,
  copied: 'rows',
} as const satisfies Table

export interface SalesMonthsTable extends RowsOf<typeof columns> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    sales_months: SalesMonthsTable
  }
}

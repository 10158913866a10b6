import { integer, neither, type RowsOf, type Table } from '../../storage/table.ts'

const columns = {
  affiliate_id: integer({ ...neither, references: { table: 'affiliates', person: true, outlives: true } }),
  /** Its first second, UTC. */
  month: integer(neither),
  sales: integer(neither),
  /** Sum of customers' payments, in two columns like all sums, see `storage/sums.ts`. */
  volume_parts: integer({ personal: false, money: 'derived' }),
  volume_rest: integer({ personal: false, money: 'derived' }),
} as const

/** An affiliate's sales in a month, for tiers: sums of their referrals. */
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

import { integer, neither, type RowsOf, type Table, text } from '../../storage/table.ts'

const columns = {
  /** Days since 1970, UTC. */
  day: integer(neither),
  affiliate_id: integer({ ...neither, references: { table: 'affiliates', person: true, outlives: true } }),
  campaign: text(neither),
  visits: integer(neither),
  /** Visits that were the first of their visitor to the affiliate on that day. */
  unique_visits: integer(neither),
  /** Visits that led to a referral. */
  converted: integer(neither),
} as const

/** The sums of a day, which remain once its visits are removed. */
export const visitDaysTable = {
  name: 'visit_days',
  key: ['day', 'affiliate_id', 'campaign'],
  columns,
  copied: 'rows',
} as const satisfies Table

export interface VisitDaysTable extends RowsOf<typeof columns> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    visit_days: VisitDaysTable
  }
}

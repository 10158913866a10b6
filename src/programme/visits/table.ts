import { integer, neither, type RowsOf, type Table, text } from '../../storage/table.ts'

const counts = {
  visits: integer(neither),
  /** Visits that were the first of their visitor to the affiliate on that day. */
  unique_visits: integer(neither),
  /** Visits that led to a referral. */
  converted: integer(neither),
} as const

/** What is counted. */
export interface VisitCounts extends RowsOf<typeof counts> {}

const dayColumns = {
  /** Days since 1970, UTC. */
  day: integer(neither),
  affiliate_id: integer({ ...neither, references: { table: 'affiliates', person: true, outlives: true } }),
  campaign: text(neither),
  ...counts,
} as const

/** The sums of a day, which remain once its visits are removed. */
export const visitDaysTable = {
  name: 'visit_days',
  key: ['day', 'affiliate_id', 'campaign'],
  columns: dayColumns,
  copied: 'rows',
} as const satisfies Table

const totalColumns = {
  day: integer(neither),
  campaign: text(neither),
  /** Of the connection that has added to it, where several do at the same moment: they need not wait for each other then. */
  part: integer(neither),
  ...counts,
} as const

/** The same of all affiliates, whose sum is that of the parts. */
export const visitTotalsTable = {
  name: 'visit_totals',
  key: ['day', 'campaign', 'part'],
  columns: totalColumns,
  copied: 'rows',
} as const satisfies Table

const removalColumns = {
  /** Always 1. */
  id: integer(neither),
  /** Visits of the days before it were removed. */
  day: integer(neither),
} as const

/** What `check` has to know: days before it cannot be compared with visits, whatever the settings say by then. */
export const visitRemovalsTable = {
  name: 'visit_removals',
  key: ['id'],
  columns: removalColumns,
  copied: 'rows',
} as const satisfies Table

interface VisitRemovalsTable extends RowsOf<typeof removalColumns> {}

export interface VisitDaysTable extends RowsOf<typeof dayColumns> {}

export interface VisitTotalsTable extends RowsOf<typeof totalColumns> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    visit_days: VisitDaysTable
    visit_totals: VisitTotalsTable
    visit_removals: VisitRemovalsTable
  }
}

/** Facts that the ledger stores twice, and queries for differences between both. */

import { type RawBuilder, sql } from 'kysely'
import { DAY_SECONDS } from '../../../base/time.ts'
import type { Db } from '../../../storage/database.ts'
import { dayIn } from '../../../storage/days.ts'
import { carried, exactSum, isNotZero, partsIn, unitsOfSum } from '../../../storage/sums.ts'
import { isForSale, isGone } from '../../referrals/types-store.ts'

/** Identifiers of affiliates after `after`, up to `last`. */
interface Range {
  readonly after: number
  readonly last: number
}

/** Two selections of affiliate, figure and amount whose sums are the same. */
export interface Comparison {
  readonly table: string
  /** None of its figures is an amount. */
  readonly isOfCounts?: true
  stated(range: RawBuilder<unknown>): RawBuilder<unknown>
  derived(range: RawBuilder<unknown>): RawBuilder<unknown>
}

const owedFigure = sql`'unpaid and reserved'`
const earnedFigure = sql`'paid_out, external and difference'`
const existsInAffiliates = sql`EXISTS (SELECT 1 FROM affiliates WHERE affiliates.id = affiliate_id)`
/** As an expression, so that each range of affiliates is read by their index, and not all that have the status. */
const status = sql`(status || '')`

const volume = partsIn(sql`volume`)
/** Sales that were posted together have been added up before they were parted. */
const summedVolume = carried({ parts: sql.ref('volume_parts'), rest: sql.ref('volume_rest') })

export const comparisons = {
  balances: {
    table: 'balances',
    stated: range => sql`SELECT affiliate_id, account AS figure, amount FROM balances WHERE ${range}`,
    derived: range => sql`
      SELECT affiliate_id, credit AS figure, amount FROM ledger_transfers WHERE ${range}
      UNION ALL SELECT affiliate_id, debit, -amount FROM ledger_transfers WHERE ${range}`,
  },
  holdings: {
    table: 'balances',
    stated: range => sql`
      SELECT affiliate_id, CASE account WHEN 'reserved' THEN ${owedFigure} WHEN 'unpaid' THEN ${owedFigure} ELSE account END AS figure, amount
        FROM balances WHERE account IN ('pending', 'unpaid', 'reserved', 'paid_out') AND ${range}
      UNION ALL SELECT affiliate_id, ${earnedFigure}, amount
        FROM balances WHERE account IN ('paid_out', 'external', 'difference') AND ${range}`,
    derived: range => sql`
      SELECT affiliate_id, CASE status WHEN 'unpaid' THEN ${owedFigure} WHEN 'paid' THEN ${earnedFigure} ELSE status END AS figure, amount
        FROM referrals WHERE ${status} IN ('pending', 'unpaid', 'paid') AND ${range}
      UNION ALL SELECT affiliate_id, 'paid_out', amount FROM payouts WHERE ${status} = 'paid' AND ${range}`,
  },
  figures: {
    table: 'affiliates',
    stated: range => sql`
      SELECT affiliate_id, figure, amount FROM (
        SELECT id AS affiliate_id, 'earnings' AS figure, earnings AS amount FROM affiliates
        UNION ALL SELECT id, 'unpaid_earnings', unpaid_earnings FROM affiliates
        UNION ALL SELECT id, 'referrals', referrals FROM affiliates
        UNION ALL SELECT id, 'visits', visits FROM affiliates
      ) AS figures WHERE ${range}`,
    derived: range => sql`
      SELECT affiliate_id, 'earnings' AS figure, amount FROM referrals WHERE ${status} = 'paid' AND ${range} AND ${existsInAffiliates}
      UNION ALL SELECT affiliate_id, 'unpaid_earnings', amount
        FROM balances WHERE account IN ('unpaid', 'reserved') AND ${range} AND ${existsInAffiliates}
      UNION ALL SELECT affiliate_id, 'visits', visits FROM visit_days WHERE ${range} AND ${existsInAffiliates}
      UNION ALL SELECT affiliate_id, 'referrals', 1 FROM referrals
        WHERE ${status} IN ('unpaid', 'paid') AND ${isForSale} AND ${range} AND ${existsInAffiliates}`,
  },
  /** A sale belongs to the last existing month at its time, so a sale of a missing month shows in another. */
  months: {
    table: 'sales_months',
    isOfCounts: true,
    stated: range => sql`
      SELECT affiliate_id, month || ' sales' AS figure, sales AS amount FROM sales_months WHERE ${range}
      UNION ALL SELECT affiliate_id, month || ' volume_parts', ${summedVolume.parts} FROM sales_months WHERE ${range}
      UNION ALL SELECT affiliate_id, month || ' volume_rest', ${summedVolume.rest} FROM sales_months WHERE ${range}`,
    derived: range => sql`
      WITH sold AS MATERIALIZED (
        SELECT affiliate_id, month, count(*) AS sales,
          cast(sum(${volume.parts}) AS bigint) AS volume_parts, cast(sum(${volume.rest}) AS bigint) AS volume_rest
        FROM (
          SELECT affiliate_id, coalesce(order_total, 0) AS volume, coalesce((
            SELECT max(month) FROM sales_months
              WHERE sales_months.affiliate_id = referrals.affiliate_id AND month <= created_at), 0) AS month
          FROM referrals
          WHERE ${status} IN ('pending', 'unpaid', 'paid') AND ${isForSale} AND NOT ${isGone} AND ${range}
        ) AS sale GROUP BY affiliate_id, month)
      SELECT affiliate_id, month || ' sales' AS figure, sales AS amount FROM sold
      UNION ALL SELECT affiliate_id, month || ' volume_parts', ${summedVolume.parts} FROM sold
      UNION ALL SELECT affiliate_id, month || ' volume_rest', ${summedVolume.rest} FROM sold`,
  },
} as const satisfies Record<string, Comparison>

/** The day of the oldest visit. */
const oldestDay = sql`(SELECT ${dayIn(sql`min(created_at)`)} FROM visits)`

/**
 * Days that may have visits no longer stored are left out. A figure is the day, what is counted, and the campaign.
 * @param kept the first day whose visits are to be there: one that is recorded later may have an older date
 */
export function visitDays(kept: number): Comparison {
  const isLater = sql`created_at >= (${oldestDay} + 1) * ${sql.lit(DAY_SECONDS)}
    AND created_at >= ${sql.lit(kept * DAY_SECONDS)}`
  return {
    table: 'visit_days',
    isOfCounts: true,
    stated: range => {
      const days = (count: string) => sql`
        SELECT affiliate_id, day || ${sql.lit(` ${count} `)} || campaign AS figure, ${sql.ref(count)} AS amount
        FROM visit_days WHERE day > ${oldestDay} AND day >= ${sql.lit(kept)} AND ${range}`
      return sql.join(['visits', 'unique_visits', 'converted'].map(days), sql` UNION ALL `)
    },
    derived: range => {
      const days = (count: string, counted: RawBuilder<unknown>) => sql`
        SELECT affiliate_id, (${dayIn(sql`created_at`)}) || ${sql.lit(` ${count} `)} || campaign AS figure, 1 AS amount
        FROM visits WHERE ${counted} AND ${isLater} AND ${range}`
      return sql.join(
        [
          days('visits', sql`1 = 1`),
          days('unique_visits', sql`repeated = 0`),
          days('converted', sql`referral_id <> 0`),
        ],
        sql` UNION ALL `,
      )
    },
  }
}

interface Difference {
  readonly affiliate_id: number
  readonly figure: string
  readonly stated: bigint
  readonly derived: bigint
}

/** The differences of a comparison, by one statement, which sees one moment. */
export async function differences(
  db: Db,
  { stated, derived }: Comparison,
  { after, last }: Range,
): Promise<Difference[]> {
  const range = sql`affiliate_id > ${sql.lit(after)} AND affiliate_id <= ${sql.lit(last)}`
  const amount = sql.ref('amount')
  const { rows } = await sql<{ affiliate_id: number; figure: string; stated: string; derived: string }>`
    SELECT affiliate_id, figure,
      ${exactSum(amount, sql`filter (where side = 1)`)} AS stated,
      ${exactSum(amount, sql`filter (where side = -1)`)} AS derived
    FROM (
      SELECT affiliate_id, figure, amount, 1 AS side FROM (${stated(range)}) AS stated
      UNION ALL SELECT affiliate_id, figure, amount, -1 FROM (${derived(range)}) AS derived
    ) AS parts GROUP BY affiliate_id, figure HAVING ${isNotZero(sql`(side * amount)`)}
    ORDER BY affiliate_id, figure`.execute(db)
  return rows.map(row => ({ ...row, stated: unitsOfSum(row.stated), derived: unitsOfSum(row.derived) }))
}

export async function affiliatesAfter(db: Db, after: number, limit: number): Promise<number[]> {
  const query = db.selectFrom('affiliates').select('id').where('id', '>', after).orderBy('id').limit(limit)
  return (await query.execute()).map(row => row.id)
}

export interface Stray {
  readonly id: number
  readonly event_id: number
  /** Null if it is not there. */
  readonly entry_id: number | null
}

/** Transfers whose entry of the log is not there, or is of another record or day: both are written by one transaction. */
export async function strays(db: Db, limit: number): Promise<Stray[]> {
  const { rows } = await sql<Stray>`
    SELECT ledger_transfers.id, event_id, events.id AS entry_id
    FROM ledger_transfers LEFT JOIN events ON events.id = event_id
    WHERE event_id IS NOT NULL AND (
      events.id IS NULL OR abs(ledger_transfers.at - events.at / 1000) > ${sql.lit(DAY_SECONDS)}
      OR record_id IS NULL OR record_id <> coalesce(CASE record_kind
        WHEN 'referral' THEN referral_id WHEN 'payout' THEN payout_id
        WHEN 'payout_run' THEN (SELECT run_id FROM run_items WHERE run_items.id = run_item_id) END, 0))
    ORDER BY ledger_transfers.id LIMIT ${limit}`.execute(db)
  return rows
}

/** Referrals and payouts where only one side says that the payout pays the referral. */
export async function halfPaid(db: Db): Promise<{ referral_id: number; payout_id: number }[]> {
  const { rows } = await sql<{ referral_id: number; payout_id: number }>`
    SELECT referral_id, payout_id FROM payout_referrals WHERE known = 1
      AND EXISTS (SELECT 1 FROM payouts WHERE id = payout_referrals.payout_id AND status = 'paid')
      AND NOT EXISTS (
        SELECT 1 FROM referrals WHERE id = payout_referrals.referral_id AND referrals.payout_id = payout_referrals.payout_id)
    UNION ALL SELECT id, payout_id FROM referrals WHERE payout_id <> 0 AND NOT EXISTS (
      SELECT 1 FROM payout_referrals JOIN payouts ON payouts.id = payout_referrals.payout_id
        WHERE known = 1 AND payouts.status = 'paid' AND referral_id = referrals.id AND payouts.id = referrals.payout_id)
    ORDER BY 1, 2`.execute(db)
  return rows
}

/** What is kept twice in the ledger, and queries for where both differ. */
import { type RawBuilder, sql } from 'kysely'
import type { Db } from '../../../storage/database.ts'
import { exactSum, isNotZero, unitsOfSum } from '../../../storage/sums.ts'

/** Of affiliates' identifiers: what follows `after`, up to `last`. */
interface Range {
  readonly after: number
  readonly last: number
}

/** Two selections of affiliate, figure and amount whose sums are the same. */
export interface Comparison {
  readonly table: string
  stated(within: RawBuilder<unknown>): RawBuilder<unknown>
  derived(within: RawBuilder<unknown>): RawBuilder<unknown>
}

const owed = sql`'unpaid and reserved'`
const earned = sql`'paid_out, external and difference'`
const ofThose = sql`EXISTS (SELECT 1 FROM affiliates WHERE affiliates.id = affiliate_id)`
/** As an expression, so that each range of affiliates is read by their index, and not all that have the status. */
const status = sql`(status || '')`

export const comparisons = {
  balances: {
    table: 'balances',
    stated: within => sql`SELECT affiliate_id, account AS figure, amount FROM balances WHERE ${within}`,
    derived: within => sql`
      SELECT affiliate_id, credit AS figure, amount FROM ledger_transfers WHERE ${within}
      UNION ALL SELECT affiliate_id, debit, -amount FROM ledger_transfers WHERE ${within}`,
  },
  holdings: {
    table: 'balances',
    stated: within => sql`
      SELECT affiliate_id, CASE account WHEN 'reserved' THEN ${owed} WHEN 'unpaid' THEN ${owed} ELSE account END AS figure, amount
        FROM balances WHERE account IN ('pending', 'unpaid', 'reserved', 'paid_out') AND ${within}
      UNION ALL SELECT affiliate_id, ${earned}, amount
        FROM balances WHERE account IN ('paid_out', 'external', 'difference') AND ${within}`,
    derived: within => sql`
      SELECT affiliate_id, CASE status WHEN 'unpaid' THEN ${owed} WHEN 'paid' THEN ${earned} ELSE status END AS figure, amount
        FROM referrals WHERE ${status} IN ('pending', 'unpaid', 'paid') AND ${within}
      UNION ALL SELECT affiliate_id, 'paid_out', amount FROM payouts WHERE ${status} = 'paid' AND ${within}`,
  },
  figures: {
    table: 'affiliates',
    stated: within => sql`
      SELECT affiliate_id, figure, amount FROM (
        SELECT id AS affiliate_id, 'earnings' AS figure, earnings AS amount FROM affiliates
        UNION ALL SELECT id, 'unpaid_earnings', unpaid_earnings FROM affiliates
        UNION ALL SELECT id, 'referrals', referrals FROM affiliates
        UNION ALL SELECT id, 'visits', visits FROM affiliates
      ) AS figures WHERE ${within}`,
    derived: within => sql`
      SELECT affiliate_id, 'earnings' AS figure, amount FROM referrals WHERE ${status} = 'paid' AND ${within} AND ${ofThose}
      UNION ALL SELECT affiliate_id, 'unpaid_earnings', amount
        FROM balances WHERE account IN ('unpaid', 'reserved') AND ${within} AND ${ofThose}
      UNION ALL SELECT affiliate_id, 'visits', 1 FROM visits WHERE ${within} AND ${ofThose}
      UNION ALL SELECT affiliate_id, 'visits', visits FROM visit_days WHERE ${within} AND ${ofThose}
      UNION ALL SELECT affiliate_id, 'referrals', 1 FROM referrals
        WHERE ${status} IN ('unpaid', 'paid') AND type NOT IN ('refund', 'write_off') AND ${within} AND ${ofThose}`,
  },
} as const satisfies Record<string, Comparison>

interface Difference {
  readonly affiliate_id: number
  readonly figure: string
  readonly stated: bigint
  readonly derived: bigint
}

/** Where both sides of a comparison are not the same, in one statement, which sees one moment. */
export async function differences(
  db: Db,
  { stated, derived }: Comparison,
  { after, last }: Range,
): Promise<Difference[]> {
  const within = sql`affiliate_id > ${sql.lit(after)} AND affiliate_id <= ${sql.lit(last)}`
  const amount = sql.ref('amount')
  const { rows } = await sql<{ affiliate_id: number; figure: string; stated: string; derived: string }>`
    SELECT affiliate_id, figure,
      ${exactSum(amount, sql`filter (where side = 1)`)} AS stated,
      ${exactSum(amount, sql`filter (where side = -1)`)} AS derived
    FROM (
      SELECT affiliate_id, figure, amount, 1 AS side FROM (${stated(within)}) AS stated
      UNION ALL SELECT affiliate_id, figure, amount, -1 FROM (${derived(within)}) AS derived
    ) AS parts GROUP BY affiliate_id, figure HAVING ${isNotZero(sql`(side * amount)`)}
    ORDER BY affiliate_id, figure`.execute(db)
  return rows.map(row => ({ ...row, stated: unitsOfSum(row.stated), derived: unitsOfSum(row.derived) }))
}

export async function affiliatesAfter(db: Db, after: number, limit: number): Promise<number[]> {
  const query = db.selectFrom('affiliates').select('id').where('id', '>', after).orderBy('id').limit(limit)
  return (await query.execute()).map(row => row.id)
}

/** Referrals and payouts of which only one says that the payout pays the referral. */
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

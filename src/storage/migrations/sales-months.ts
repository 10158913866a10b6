import { sql } from 'kysely'
import { monthFrom } from '../../base/time.ts'
import type { Engine, Tx } from '../database.ts'
import type { Step } from './earning.ts'

/** Sums of each affiliate's sales by month, which had to be computed for each sale so far. */
export function salesMonths({ integer, tableOptions }: Engine): Step[] {
  return [
    `CREATE TABLE sales_months (
      affiliate_id ${integer} NOT NULL,
      month ${integer} NOT NULL,
      sales ${integer} NOT NULL,
      volume_parts ${integer} NOT NULL,
      volume_rest ${integer} NOT NULL,
      PRIMARY KEY (affiliate_id, month)
    ) ${tableOptions}`,
    addUp,
  ]
}

/** Month by month, since the engines have no calendar functions in common. */
async function addUp(tx: Tx): Promise<void> {
  let first = await firstFrom(tx, -Number.MAX_SAFE_INTEGER)
  while (first !== null) {
    const [month, next] = [monthFrom(first), monthFrom(first, 1)]
    await sql`INSERT INTO sales_months (affiliate_id, month, sales, volume_parts, volume_rest)
      SELECT affiliate_id, cast(${month} AS bigint), count(*),
        coalesce(sum(order_total / 1000000), 0), coalesce(sum(order_total % 1000000), 0)
      FROM referrals WHERE created_at >= ${month} AND created_at < ${next}
        AND status IN ('pending', 'unpaid', 'paid') AND type IN ('sale', 'lead', 'opt-in')
      GROUP BY affiliate_id`.execute(tx)
    first = await firstFrom(tx, next)
  }
}

async function firstFrom(tx: Tx, time: number): Promise<number | null> {
  const { rows } = await sql<{
    first: number | null
  }>`SELECT min(created_at) AS first FROM referrals WHERE created_at >= ${time}`.execute(tx)
  return rows[0]!.first
}

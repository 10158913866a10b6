import { sql } from 'kysely'
import type { Db } from '../../storage/database.ts'
import type { CampaignList } from './schema.ts'

const MOST = 100

/** Counts the latest visits only, so that it takes equally long however many there are. */
export async function campaignsOfLatest(db: Db, latest: number): Promise<CampaignList['campaigns']> {
  const { rows } = await sql<CampaignList['campaigns'][number]>`
    SELECT affiliate_id, campaign, count(*) AS visits,
      sum(CASE WHEN repeated = 0 THEN 1 ELSE 0 END) AS visitors,
      sum(CASE WHEN referral_id <> 0 THEN 1 ELSE 0 END) AS converted
    FROM visits
    WHERE id > (SELECT coalesce(max(id), 0) - ${latest} FROM visits)
    GROUP BY affiliate_id, campaign
    ORDER BY visits DESC, affiliate_id, campaign
    LIMIT ${MOST}`.execute(db)
  return rows.map(row => ({ ...row, visitors: Number(row.visitors), converted: Number(row.converted) }))
}

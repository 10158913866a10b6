import { sql } from 'kysely'
import { GONE, TWICE } from '../commission/calculation.ts'
import { correctionTypes, earnedStatuses } from './types.ts'

/** The condition that a row of referrals is for a sale, and is no correction. */
export const isForSale = sql<boolean>`type NOT IN (${sql.join(correctionTypes.map(type => sql.lit(type)))})`

/** The condition that a row of referrals is earned. */
export const isEarned = sql<boolean>`status IN (${sql.join(earnedStatuses.map(status => sql.lit(status)))})`

/** The condition that nothing is left of a referral's sale. */
export const isGone = sql<boolean>`(calculation LIKE ${sql.lit(`%${GONE}%`)})`

/** The condition that the sale of a referral was reported twice, and the other report earns. */
export const isDuplicate = sql<boolean>`(calculation LIKE ${sql.lit(`%${TWICE}%`)})`

import { sql } from 'kysely'
import { correctionTypes } from './types.ts'

/** The condition that a row of referrals is for what was sold, and corrects nothing. */
export const isForSale = sql<boolean>`type NOT IN (${sql.join(correctionTypes.map(type => sql.lit(type)))})`

/** Names are searched without accents: those that have any are folded again. */
import { sql } from 'kysely'
import { foldAccents } from '../../base/text.ts'
import type { Engine } from '../database.ts'
import type { Step } from './earning.ts'

const names = {
  users: ['display_name'],
  api_keys: ['name'],
  rules: ['name'],
  creatives: ['name'],
  customers: ['first_name', 'last_name'],
  referrals: ['description'],
  payouts: ['payout_method'],
  coupons: ['campaign'],
  sources: ['name'],
} as const

export function namesWithoutAccents(): Step[] {
  return Object.entries(names).flatMap(([table, columns]) => columns.map(column => folding(table, column)))
}

/** Referrals are found by words of their campaign. */
export function campaignsOfReferrals({ text }: Engine): Step[] {
  return [
    `ALTER TABLE referrals ADD COLUMN campaign_key ${text} NOT NULL DEFAULT ''`,
    "UPDATE referrals SET campaign_key = lower(campaign) WHERE campaign <> ''",
    folding('referrals', 'campaign'),
  ]
}

/** Few rows have letters beyond ASCII. */
function folding(table: string, column: string): Step {
  const key = sql.ref(`${column}_key`)
  return async tx => {
    for (let last = 0; ; ) {
      const { rows } = await sql<{ id: number; text: string }>`
        SELECT id, ${sql.ref(column)} AS text FROM ${sql.table(table)}
        WHERE id > ${last} AND octet_length(${key}) <> length(${key}) ORDER BY id LIMIT 500`.execute(tx)
      for (const { id, text } of rows) {
        await sql`UPDATE ${sql.table(table)} SET ${key} = ${foldAccents(text)} WHERE id = ${id}`.execute(tx)
      }
      if (rows.length === 0) return
      last = rows.at(-1)!.id
    }
  }
}

import { sql } from 'kysely'
import type { Database } from '../../storage/database.ts'
import { countOf } from '../../storage/page.ts'

export async function countRows({ reader }: Database) {
  const [users, affiliates, payouts, keys] = await Promise.all([
    countOf(reader.selectFrom('users')),
    countOf(reader.selectFrom('affiliates')),
    countOf(reader.selectFrom('payouts')),
    countOf(reader.selectFrom('api_keys')),
  ])
  return { users, affiliates, payouts, keys }
}

export async function databaseSize({ engine, reader }: Database): Promise<number> {
  const { rows } = await sql.raw<{ bytes: number }>(engine.databaseSize).execute(reader)
  return rows[0]!.bytes
}

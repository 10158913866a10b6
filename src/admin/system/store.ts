import { sql } from 'kysely'
import type { Database } from '../../storage/database.ts'

export async function countRows({ reader }: Database) {
  const count = async (table: 'users' | 'affiliates' | 'payouts' | 'api_keys') => {
    const row = await reader
      .selectFrom(table)
      .select(({ fn }) => fn.countAll<number>().as('count'))
      .executeTakeFirstOrThrow()
    return row.count
  }
  const [users, affiliates, payouts, keys] = await Promise.all([
    count('users'),
    count('affiliates'),
    count('payouts'),
    count('api_keys'),
  ])
  return { users, affiliates, payouts, keys }
}

export async function databaseSize({ engine, reader }: Database): Promise<number> {
  const { rows } = await sql.raw<{ bytes: number }>(engine.databaseSize).execute(reader)
  return rows[0]!.bytes
}

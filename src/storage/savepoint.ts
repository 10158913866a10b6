import { sql } from 'kysely'
import type { Tx } from './database.ts'

/** Runs work in a part of a transaction: when it throws, nothing of it remains, and the transaction goes on. */
export async function inSavepoint<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  await sql`SAVEPOINT part`.execute(tx)
  let result: T
  try {
    result = await work()
  } catch (error) {
    await sql`ROLLBACK TO SAVEPOINT part`.execute(tx)
    await sql`RELEASE SAVEPOINT part`.execute(tx)
    throw error
  }
  await sql`RELEASE SAVEPOINT part`.execute(tx)
  return result
}

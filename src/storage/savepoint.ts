import { sql } from 'kysely'
import type { Tx } from './database.ts'

/** Runs work in a savepoint: if it throws, its changes are rolled back and the transaction continues. */
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

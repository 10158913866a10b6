import { sql } from 'kysely'
import { DatabaseUnavailable, type Tx } from './database.ts'

/**
 * Runs work in a savepoint: if it throws, its changes are rolled back and the transaction continues.
 * @throws DatabaseUnavailable if the transaction cannot continue
 */
export async function inSavepoint<T>(tx: Tx, work: () => Promise<T>): Promise<T> {
  await sql`SAVEPOINT part`.execute(tx)
  try {
    const result = await work()
    // Statements that nobody awaits fail here at the latest.
    await sql`RELEASE SAVEPOINT part`.execute(tx)
    return result
  } catch (error) {
    await rollBack(tx, error)
    throw error
  }
}

async function rollBack(tx: Tx, cause: unknown): Promise<void> {
  const back = () => sql`ROLLBACK TO SAVEPOINT part`.execute(tx)
  try {
    // A statement that nobody awaits, and that is sent together with the first, may keep that from running.
    await back().catch(back)
    await sql`RELEASE SAVEPOINT part`.execute(tx)
  } catch (error) {
    if (cause instanceof DatabaseUnavailable) throw cause
    if (error instanceof DatabaseUnavailable) throw error
    throw new DatabaseUnavailable('the transaction has ended with its savepoint', cause)
  }
}

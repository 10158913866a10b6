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
    // Statements run by `later` fail here at the latest.
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
    // The first attempt may be sent together with a statement run by `later`, and not run if that one fails.
    await back().catch(back)
    await sql`RELEASE SAVEPOINT part`.execute(tx)
  } catch (error) {
    if (cause instanceof DatabaseUnavailable) throw cause
    if (error instanceof DatabaseUnavailable) throw error
    throw new DatabaseUnavailable('the transaction has ended with its savepoint', cause)
  }
}

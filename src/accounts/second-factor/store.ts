/** Queries on second factors and recovery codes. */
import type { Selectable } from 'kysely'
import type { Db, Tx } from '../../storage/database.ts'
import { countOf } from '../../storage/page.ts'
import type { SecondFactorsTable } from './table.ts'

export type SecondFactor = Selectable<SecondFactorsTable>

export async function findFactor(db: Db, userId: number): Promise<SecondFactor | undefined> {
  return db.selectFrom('second_factors').selectAll().where('user_id', '=', userId).executeTakeFirst()
}

/** Locks the second factor until the transaction ends. */
export async function lockFactor(tx: Tx, userId: number): Promise<SecondFactor | undefined> {
  return tx
    .selectFrom('second_factors')
    .selectAll()
    .where('user_id', '=', userId)
    .forUpdate()
    .executeTakeFirst()
}

/** Replaces an unconfirmed second factor. */
export async function putFactor(tx: Tx, factor: SecondFactor): Promise<void> {
  const { user_id, ...rest } = factor
  await tx
    .insertInto('second_factors')
    .values(factor)
    .onConflict(conflict => conflict.column('user_id').doUpdateSet(rest))
    .execute()
}

export async function setStep(tx: Tx, userId: number, step: number): Promise<void> {
  await tx.updateTable('second_factors').set({ last_step: step }).where('user_id', '=', userId).execute()
}

export async function setConfirmed(tx: Tx, userId: number, confirmedAt: number): Promise<void> {
  await tx
    .updateTable('second_factors')
    .set({ confirmed_at: confirmedAt })
    .where('user_id', '=', userId)
    .execute()
}

export async function removeFactor(tx: Tx, userId: number): Promise<void> {
  await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  await tx.deleteFrom('second_factors').where('user_id', '=', userId).execute()
}

export async function countRecoveryCodes(db: Db, userId: number): Promise<number> {
  return countOf(db.selectFrom('recovery_codes').where('user_id', '=', userId))
}

/** Replaces the recovery codes of an account. */
export async function putRecoveryCodes(tx: Tx, userId: number, hashes: readonly string[]): Promise<void> {
  await tx.deleteFrom('recovery_codes').where('user_id', '=', userId).execute()
  await tx
    .insertInto('recovery_codes')
    .values(hashes.map(code_hash => ({ code_hash, user_id: userId })))
    .execute()
}

/** @returns whether the code existed */
export async function takeRecoveryCode(tx: Tx, userId: number, hash: string): Promise<boolean> {
  const deleted = await tx
    .deleteFrom('recovery_codes')
    .where('user_id', '=', userId)
    .where('code_hash', '=', hash)
    .returning('code_hash')
    .execute()
  return deleted.length > 0
}

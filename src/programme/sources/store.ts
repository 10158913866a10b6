import { storeOf } from '../../records/store.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import { openedSecret, resealedSecret } from './sealing.ts'
import { type Source, source } from './source.ts'

export const sources = storeOf(source)

const whole = prepared((db: Db, { id }: { id: number }) =>
  db.selectFrom('sources').selectAll().where('id', '=', id),
)

/** With its secret. @throws Failure secret_key */
export async function sourceWithSecret(db: Db, id: number): Promise<Source | undefined> {
  const [row] = await whole(db, { id })
  return row && { ...row, secret: openedSecret(row.secret) }
}

export async function secretsAfter(db: Db, id: number, limit: number) {
  return db
    .selectFrom('sources')
    .select(['id', 'secret'])
    .where('id', '>', id)
    .orderBy('id')
    .limit(limit)
    .execute()
}

/** @returns whether it was sealed by another key */
export async function resealSecret(tx: Tx, { id, secret }: Pick<Source, 'id' | 'secret'>): Promise<boolean> {
  const resealed = resealedSecret(secret)
  if (resealed === undefined) return false
  await tx
    .updateTable('sources')
    .set({ secret: resealed })
    .where('id', '=', id)
    .where('secret', '=', secret)
    .execute()
  return true
}

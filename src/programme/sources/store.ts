import { storeOf } from '../../records/store.ts'
import type { Db } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import { type Source, source } from './source.ts'

export const sources = storeOf(source)

const whole = prepared((db: Db, { id }: { id: number }) =>
  db.selectFrom('sources').selectAll().where('id', '=', id),
)

/** With its secret. */
export async function sourceWithSecret(db: Db, id: number): Promise<Source | undefined> {
  return (await whole(db, { id }))[0]
}

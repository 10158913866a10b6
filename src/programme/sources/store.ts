import { storeOf } from '../../records/store.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import { beginsWithNone, keyNameIn, type Sealed } from '../../storage/resealing.ts'
import { MARK, openedSecret, sealedSecret } from './sealing.ts'
import { type Source, source } from './source.ts'

export const sources = storeOf(source)

const wholeSource = prepared((db: Db, { id }: { id: number }) =>
  db.selectFrom('sources').selectAll().where('id', '=', id),
)

/** With its secret. @throws Failure secret_key */
export async function sourceWithSecret(db: Db, id: number): Promise<Source | undefined> {
  const [row] = await wholeSource(db, { id })
  return row && { ...row, secret: openedSecret(row.secret) }
}

/** Secrets of older versions are not sealed. */
export const sealedSecrets: Sealed = {
  table: 'sources',
  keys: db =>
    db
      .selectFrom('sources')
      .select(keyNameIn('secret', MARK.length + 1))
      .distinct()
      .where('secret', 'like', `${MARK}%`)
      .execute(),
  stale: async (tx, prefixes, after, limit) => {
    const rows = await tx
      .selectFrom('sources')
      .select(['id', 'secret'])
      .where('id', '>', after)
      .where(
        beginsWithNone(
          'secret',
          prefixes.map(prefix => MARK + prefix),
        ),
      )
      .orderBy('id')
      .limit(limit)
      .execute()
    return rows.map(row => ({ id: row.id, reseal: tx => resealSecret(tx, row) }))
  },
}

async function resealSecret(tx: Tx, { id, secret }: Pick<Source, 'id' | 'secret'>): Promise<void> {
  await tx
    .updateTable('sources')
    .set({ secret: sealedSecret(openedSecret(secret)) })
    .where('id', '=', id)
    .where('secret', '=', secret)
    .execute()
}

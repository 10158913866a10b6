import { sql } from 'kysely'
import { storeOf } from '../../records/store.ts'
import type { Db } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import type { Sealed } from '../../storage/resealing.ts'
import { aboutOf, openedSecret, sealedSecret } from './sealing.ts'
import { type Source, source } from './source.ts'

const plain = storeOf(source)

/** Stores secrets sealed. A secret is sealed for the identifier, which a new source gets from the database. */
export const sources: typeof plain = {
  ...plain,
  insert: async (tx, row, refuse) => {
    const created = await plain.insert(tx, { ...row, secret: '' }, refuse)
    return plain.update(tx, created, { secret: sealedSecret(created.id, row.secret) })
  },
  update: (tx, before, { secret, ...change }, refuse) =>
    plain.update(
      tx,
      before,
      { ...change, ...(secret !== undefined && { secret: sealedSecret(before.id, secret) }) },
      refuse,
    ),
}

const wholeSource = prepared((db: Db, { id }: { id: number }) =>
  db.selectFrom('sources').selectAll().where('id', '=', id),
)

/** With its secret. @throws Failure secret_key */
export async function sourceWithSecret(db: Db, id: number): Promise<Source | undefined> {
  const [row] = await wholeSource(db, { id })
  return row && { ...row, secret: openedSecret(id, row.secret) }
}

type Sharing = Pick<Source, 'id' | 'type' | 'context'>

const active = prepared((db: Db, { id, type, context }: Sharing) =>
  db
    .selectFrom('sources')
    .select(['id', 'name'])
    .where('id', '=', id)
    .where('type', '=', type)
    .where('context', '=', context)
    .where('status', '=', sql.lit('active' as const)),
)

/** The source if it is active, and of this type and context. */
export async function activeSource(db: Db, { id, type, context }: Sharing) {
  return (await active(db, { id, type, context }))[0]
}

export const sealedSecrets: Sealed = {
  table: 'sources',
  column: 'secret',
  about: ({ key }) => aboutOf(key),
}

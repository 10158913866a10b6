/** What was answered about people, which is stored for a day where the request had an Idempotency-Key. */
import { eraseStored } from '../../http/lines.ts'
import type { Tx } from '../../storage/database.ts'
import type { Schema } from '../../storage/table.ts'
import type { Person } from './store.ts'

/** Erases stored answers that name the person: records of theirs, and records that refer to one, such as payouts. */
export async function eraseAnswersAbout(tx: Tx, schema: Schema, person: Person): Promise<void> {
  const names = schema.flatMap(({ name, logged }) =>
    (person.get(name) ?? []).map(id => `"${logged!.kind}_id":${id},`),
  )
  await eraseStored(tx, names)
}

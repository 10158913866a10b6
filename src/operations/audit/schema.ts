import { type Static, Type } from 'typebox'
import { choice, identifiers, line, listOf, span } from '../../base/schemas.ts'
import { actorKinds, vocabulary } from '../../events/schema.ts'
import type { Schema } from '../../storage/table.ts'

const values = (description: string) =>
  Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], { description })

/** An entry of the audit log; its fields in this order. */
const entryRecord = (kinds: string[], actions: string[]) =>
  Type.Object({
    id: Type.Integer({ description: 'Identifier of the entry.' }),
    date: Type.String({ description: 'When: YYYY-MM-DD HH:MM:SS.mmm, UTC.' }),
    actor: choice(actorKinds, 'What acted.'),
    actor_name: Type.String({ description: 'The public part of the API key; empty when it was none.' }),
    user_id: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The account that acted: the owner of the key, or who had logged in.',
    }),
    login: Type.Union([Type.String(), Type.Null()], { description: 'Its login, as it is now.' }),
    address: Type.String({ description: 'Where the request came from.' }),
    action: choice(actions, 'What was done.'),
    record: choice(kinds, 'What kind of record it was done to.'),
    record_id: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Which one; of a session, the account.',
    }),
    before: values('What was there before; of an edit, only what was changed.'),
    after: values('What was there afterwards.'),
    erased: Type.Boolean({ description: 'Whether personal data was removed from the entry.' }),
  })

/** The filters of a list. */
const filterArguments = (kinds: string[], actions: string[]) => ({
  actor: Type.Optional(listOf(choice(actorKinds), 'Only what these did.')),
  actor_name: Type.Optional(line(100, 'Only what this API key did, by its public part.')),
  user_id: Type.Optional(identifiers('Only what these accounts did, by key or logged in.')),
  action: Type.Optional(listOf(choice(actions), 'Only these actions.')),
  record: Type.Optional(listOf(choice(kinds), 'Only what was done to these kinds of record.')),
  record_id: Type.Optional(identifiers('Only what was done to these records.')),
  date: Type.Optional(span('When: a day, or date[start] and date[end], inclusive.')),
})

/** The schemas of the audit log over the tables of a schema. */
export function auditSchemas(schema: Schema) {
  const { kinds, actions } = vocabulary(schema)
  return { record: entryRecord(kinds, actions), filters: filterArguments(kinds, actions) }
}

export type EntryRecord = Static<ReturnType<typeof entryRecord>>

const filters = Type.Object(filterArguments([], []))
export type FilterArguments = Static<typeof filters>

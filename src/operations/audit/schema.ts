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
    date: Type.String({ description: 'Time: YYYY-MM-DD HH:MM:SS.mmm, UTC.' }),
    actor: choice(actorKinds, 'Who or what acted.'),
    actor_name: Type.String({ description: 'Public part of the API key; empty if none was used.' }),
    user_id: Type.Union([Type.Integer(), Type.Null()], {
      description: 'The account that acted: the owner of the key, or the person who was logged in.',
    }),
    login: Type.Union([Type.String(), Type.Null()], {
      description: 'Login name of this account, as it is now.',
    }),
    address: Type.String({ description: 'Address that the request came from.' }),
    action: choice(actions, 'What was done.'),
    record: choice(kinds, 'Kind of the record.'),
    record_id: Type.Union([Type.Integer(), Type.Null()], {
      description: 'Identifier of the record; for a session, of the account.',
    }),
    before: values('The record before; for an edit, only the fields that were changed.'),
    after: values('The record afterwards.'),
    erased: Type.Boolean({ description: 'Whether personal data was removed from the entry.' }),
  })

/** The filters of a list. */
const filterArguments = (kinds: string[], actions: string[]) => ({
  actor: Type.Optional(listOf(choice(actorKinds), 'Only entries by one of these kinds of actor.')),
  actor_name: Type.Optional(line(100, 'Only entries by this API key, given its public part.')),
  user_id: Type.Optional(identifiers('Only entries by one of these accounts, with a key or logged in.')),
  action: Type.Optional(listOf(choice(actions), 'Only entries about one of these actions.')),
  record: Type.Optional(listOf(choice(kinds), 'Only entries about one of these kinds of record.')),
  record_id: Type.Optional(identifiers('Only entries about records with one of these identifiers.')),
  date: Type.Optional(span('Time of the entry: a day, or date[start] and date[end], inclusive.')),
})

/** The schemas of the audit log over the tables of a schema. */
export function auditSchemas(schema: Schema) {
  const { kinds, actions } = vocabulary(schema)
  return { record: entryRecord(kinds, actions), filters: filterArguments(kinds, actions) }
}

export type EntryRecord = Static<ReturnType<typeof entryRecord>>

const filters = Type.Object(filterArguments([], []))
export type FilterArguments = Static<typeof filters>

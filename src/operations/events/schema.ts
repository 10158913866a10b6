import { type Static, Type } from 'typebox'
import { choice, listOf } from '../../base/schemas.ts'
import { actorKinds, vocabulary } from '../../events/schema.ts'
import type { Schema } from '../../storage/table.ts'

/** An event as callers see it; its fields in this order. */
const eventRecord = (kinds: string[], types: string[]) =>
  Type.Object(
    {
      position: Type.Integer({
        description: 'Place in the log of all events: some are not shown, and their places are passed over.',
      }),
      id: Type.Integer({ description: 'Identifier of the event, as in the audit log.' }),
      type: choice(
        types,
        'What was done to what kind of record. What a payout run could not pay becomes a failed payout by payout.fail or payout.return.',
      ),
      date: Type.String({ description: 'When: YYYY-MM-DD HH:MM:SS.mmm, UTC.' }),
      actor: choice(actorKinds, 'What acted.'),
      user_id: Type.Union([Type.Integer(), Type.Null()], {
        description: 'The account that acted: the owner of the key, or who had logged in.',
      }),
      record: choice(kinds, 'What kind of record it was done to.'),
      record_id: Type.Union([Type.Integer(), Type.Null()], {
        description: 'Which one; null for the settings.',
      }),
      data: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
        description:
          'The record that was made, or as it was when it was deleted, without fields that are empty; null for an edit.',
      }),
      changes: Type.Union([Type.Record(Type.String(), Type.Array(Type.Unknown())), Type.Null()], {
        description: 'Of an edit, each field that was changed: [before, after]; else null.',
      }),
      erased: Type.Boolean({ description: 'Whether personal data was removed from the event.' }),
    },
    { title: 'Event' },
  )

export type EventRecord = Static<ReturnType<typeof eventRecord>>

const MOST_EVENTS = 1000
export const DEFAULT_EVENTS = 100

const listArguments = (kinds: string[], types: string[]) =>
  Type.Object({
    after: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        default: 0,
        description: 'The position of the last event that you have; 0 begins with the first.',
      }),
    ),
    type: Type.Optional(listOf(choice(types), 'Only events of these types.')),
    record: Type.Optional(listOf(choice(kinds), 'Only what was done to these kinds of record.')),
    number: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MOST_EVENTS,
        default: DEFAULT_EVENTS,
        description: 'How many to list at most.',
      }),
    ),
  })

export type ListArguments = Static<ReturnType<typeof listArguments>>

/** The kinds of record that programs may follow. Sessions are left out: they concern the administration area alone. */
export const publicVocabulary = (schema: Schema) => vocabulary(schema, logged => logged.public)

/** The schemas of the events over the tables of a schema. */
export function eventSchemas(schema: Schema) {
  const { kinds, actions } = publicVocabulary(schema)
  return { record: eventRecord(kinds, actions), arguments: listArguments(kinds, actions) }
}

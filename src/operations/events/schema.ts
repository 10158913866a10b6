import { type Static, Type } from 'typebox'
import { choice, listOf } from '../../base/schemas.ts'
import { actorKinds, vocabulary } from '../../events/schema.ts'
import type { Schema } from '../../storage/table.ts'

/** An event as callers see it; its fields in this order. */
const eventRecord = (kinds: string[], types: string[]) =>
  Type.Object(
    {
      position: Type.Integer({
        description: 'Position in the log of all events; those of events that are not shown are skipped.',
      }),
      id: Type.Integer({ description: 'Identifier of the event, as in the audit log.' }),
      type: choice(
        types,
        'Kind of record and what was done to it. A conversion that credits nobody is recorded by conversion.unattributed instead of conversion.create. A payment of a payout run that failed or was returned becomes a failed payout, with payout.fail or payout.return. Referrals that a payout run pays have no event of their own: payout.create names them.',
      ),
      date: Type.String({ description: 'Time: YYYY-MM-DD HH:MM:SS.mmm, UTC.' }),
      actor: choice(actorKinds, 'Who or what acted.'),
      user_id: Type.Union([Type.Integer(), Type.Null()], {
        description: 'The account that acted: the owner of the key, or the person who was logged in.',
      }),
      record: choice(kinds, 'Kind of the record.'),
      record_id: Type.Union([Type.Integer(), Type.Null()], {
        description: 'Identifier of the record; null for the settings.',
      }),
      data: Type.Union([Type.Record(Type.String(), Type.Unknown()), Type.Null()], {
        description:
          'The record as it was created, or as it was before it was deleted, without empty fields; null for an edit.',
      }),
      changes: Type.Union([Type.Record(Type.String(), Type.Array(Type.Unknown())), Type.Null()], {
        description: 'For an edit, each changed field as [before, after]; otherwise null.',
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
        description: 'Position of the last event that you have; 0 starts with the first event.',
      }),
    ),
    type: Type.Optional(listOf(choice(types), 'Only events of one of these types.')),
    record: Type.Optional(listOf(choice(kinds), 'Only events about one of these kinds of record.')),
    number: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: MOST_EVENTS,
        default: DEFAULT_EVENTS,
        description: 'Maximum number of events to list.',
      }),
    ),
  })

export type ListArguments = Static<ReturnType<typeof listArguments>>

/** The kinds of record that programs may follow: not those that only concern the service itself or the administration area. */
export const publicVocabulary = (schema: Schema) => vocabulary(schema, logged => logged.public)

/** The schemas of the events over the tables of a schema. */
export function eventSchemas(schema: Schema) {
  const { kinds, actions } = publicVocabulary(schema)
  return { record: eventRecord(kinds, actions), arguments: listArguments(kinds, actions) }
}

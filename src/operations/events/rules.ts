/** The log as programs follow it: sealed events of public kinds of record. */
import { formatMilliseconds } from '../../base/time.ts'
import { hiddenFrom } from '../../events/hidden.ts'
import { type PositionedEvent, readEvents, valuesOf } from '../../events/read.ts'
import { loggedIn } from '../../events/schema.ts'
import type { RequestContext } from '../../events/write.ts'
import type { Schema } from '../../storage/table.ts'
import { DEFAULT_EVENTS, type EventRecord, type ListArguments, publicVocabulary } from './schema.ts'

export interface EventList {
  readonly events: EventRecord[]
  /** Where the next page begins, when there is one. */
  readonly next: number | undefined
}

/** @throws Failure forbidden when events that the actor may not read were asked for by name */
export async function listEvents(
  { database, actor }: RequestContext,
  { after = 0, type, record, number = DEFAULT_EVENTS }: ListArguments,
): Promise<EventList> {
  const { schema } = database
  const hidden = hiddenFrom(actor, schema, record)
  const criteria = {
    recordKinds: record?.length ? record : publicVocabulary(schema).kinds.filter(kind => !hidden.has(kind)),
    ...(type?.length && { actions: type }),
  }
  const { events, last, more } = await readEvents(database, { after, limit: number, criteria })
  return { events: events.map(event => recordOf(event, schema)), next: more ? last : undefined }
}

/** The record as callers see it. */
function recordOf({ position, entry }: PositionedEvent, schema: Schema): EventRecord {
  const { before, after, erased } = valuesOf(entry)
  const isEdit = before !== null && after !== null
  const { record_kind: kind } = entry
  const ofArea = loggedIn(schema).get(kind)?.ofArea
  return {
    position,
    id: entry.id,
    type: entry.action,
    date: formatMilliseconds(entry.at),
    actor: entry.actor_kind,
    user_id: entry.actor_id,
    record: kind,
    record_id: entry.record_id,
    data: isEdit ? null : publicly(ofArea, after ?? before, value => value),
    changes: isEdit ? publicly(ofArea, after, (value, name) => [before[name] ?? null, value ?? null]) : null,
    erased,
  }
}

/** @param ofArea names of those that only the administration area shows */
function publicly<T>(
  ofArea: readonly string[] = [],
  values: Readonly<Record<string, unknown>> | null,
  show: (value: unknown, name: string) => T,
): Record<string, T> | null {
  if (values === null) return null
  const visible = Object.entries(values).filter(([name]) => !ofArea.includes(name))
  return Object.fromEntries(visible.map(([name, value]) => [name, show(value, name)]))
}

/** The log as programs follow it: sealed events of public kinds of record. */
import { formatMilliseconds } from '../../base/time.ts'
import { type PositionedEvent, readEvents, valuesOf } from '../../events/read.ts'
import type { Context } from '../../events/write.ts'
import { DEFAULT_EVENTS, type EventRecord, type ListArguments, publicVocabulary } from './schema.ts'

/** Fields that only the administration area shows. */
const INTERNAL = new Set(['notes'])

export interface EventList {
  readonly events: EventRecord[]
  /** Where the next page begins, when there is one. */
  readonly next: number | undefined
}

export async function listEvents(
  { database }: Context,
  { after = 0, type, record, number = DEFAULT_EVENTS }: ListArguments,
): Promise<EventList> {
  const criteria = {
    recordKinds: record?.length ? record : publicVocabulary(database.schema).kinds,
    ...(type?.length && { actions: type }),
  }
  const { events, last, more } = await readEvents(database, { after, limit: number, criteria })
  return { events: events.map(recordOf), next: more ? last : undefined }
}

/** The record as callers see it. */
function recordOf({ position, entry }: PositionedEvent): EventRecord {
  const { before, after, erased } = valuesOf(entry)
  const isEdit = before !== null && after !== null
  return {
    position,
    id: entry.id,
    type: entry.action,
    date: formatMilliseconds(entry.at),
    actor: entry.actor_kind,
    user_id: entry.actor_id,
    record: entry.record_kind,
    record_id: entry.record_id,
    data: isEdit ? null : publicly(after ?? before, value => value),
    changes: isEdit ? publicly(after, (value, name) => [before[name] ?? null, value ?? null]) : null,
    erased,
  }
}

function publicly<T>(
  values: Readonly<Record<string, unknown>> | null,
  show: (value: unknown, name: string) => T,
): Record<string, T> | null {
  if (values === null) return null
  const visible = Object.entries(values).filter(([name]) => !INTERNAL.has(name))
  return Object.fromEntries(visible.map(([name, value]) => [name, show(value, name)]))
}

/** The audit log as people read it: every event. */
import { formatMilliseconds, parseSpan } from '../../base/time.ts'
import { valuesOf } from '../../events/read.ts'
import * as store from '../../events/store.ts'
import type { Context } from '../../events/write.ts'
import type { Page } from '../../storage/page.ts'
import type { EntryRecord, FilterArguments } from './schema.ts'

export async function listEntries(
  { database }: Context,
  filters: FilterArguments,
  page: Page,
): Promise<store.EntryRow[]> {
  return store.listEntries(database.reader, criteriaOf(filters), page)
}

export async function countEntries({ database }: Context, filters: FilterArguments): Promise<number> {
  return store.countEntries(database.reader, criteriaOf(filters))
}

/** The record as callers see it. */
export function recordOf(row: store.EntryRow): EntryRecord {
  return {
    id: row.id,
    date: formatMilliseconds(row.at),
    actor: row.actor_kind,
    actor_name: row.actor_name,
    user_id: row.actor_id,
    login: row.login,
    address: row.address,
    action: row.action,
    record: row.record_kind,
    record_id: row.record_id,
    ...valuesOf(row),
  }
}

function criteriaOf(filters: FilterArguments): store.Criteria {
  const { actor, actor_name, user_id, action, record: kind, record_id, date } = filters
  const days = date === undefined ? undefined : parseSpan(date)
  return {
    ...(actor?.length && { actorKinds: actor }),
    ...(actor_name && { actorName: actor_name }),
    ...(user_id?.length && { actorIds: user_id }),
    ...(action?.length && { actions: action }),
    ...(kind?.length && { recordKinds: kind }),
    ...(record_id?.length && { recordIds: record_id }),
    ...(days && {
      at: {
        ...(days.first !== undefined && { first: days.first * 1000 }),
        ...(days.last !== undefined && { last: days.last * 1000 + 999 }),
      },
    }),
  }
}

/** The audit log as people read it: every event of what they may read. */
import { formatMilliseconds, parseSpan } from '../../base/time.ts'
import { hiddenFrom } from '../../events/hidden.ts'
import { valuesOf } from '../../events/read.ts'
import * as store from '../../events/store.ts'
import type { RequestContext } from '../../events/write.ts'
import type { Page } from '../../storage/page.ts'
import type { EntryRecord, FilterArguments } from './schema.ts'

export async function listEntries(
  context: RequestContext,
  filters: FilterArguments,
  page: Page,
): Promise<store.EntryRow[]> {
  return store.listEntries(context.database.reader, readableBy(context, filters), page)
}

export async function countEntries(context: RequestContext, filters: FilterArguments): Promise<number> {
  return store.countEntries(context.database.reader, readableBy(context, filters))
}

/** @throws Failure forbidden when entries that the actor may not read were asked for by name */
function readableBy({ actor, database }: RequestContext, filters: FilterArguments): store.Criteria {
  const hidden = hiddenFrom(actor, database.schema, filters.record)
  return { ...criteriaOf(filters), ...(hidden.size > 0 && { otherKinds: [...hidden] }) }
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

/** The audit log as people read it: all that the log of events has. */
import { formatTime, parseSpan } from '../../base/time.ts'
import * as store from '../../events/store.ts'
import type { Context } from '../../events/write.ts'
import type { Page } from '../../storage/page.ts'
import type { EntryRecord, FilterArguments } from './schema.ts'

type Values = Readonly<Record<string, unknown>>

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
  const personal =
    row.personal === '' ? {} : (JSON.parse(row.personal) as { before?: Values; after?: Values })
  const together = (plain: string, apart: Values | undefined) =>
    plain === '' && !apart ? null : { ...(plain && JSON.parse(plain)), ...apart }
  return {
    id: row.id,
    date: `${formatTime(Math.floor(row.at / 1000))}.${String(row.at % 1000).padStart(3, '0')}`,
    actor: row.actor_kind as EntryRecord['actor'],
    actor_name: row.actor_name,
    user_id: row.actor_id,
    login: row.login,
    address: row.address,
    action: row.action as EntryRecord['action'],
    record: row.record_kind as EntryRecord['record'],
    record_id: row.record_id,
    before: together(row.before_values, personal.before),
    after: together(row.after_values, personal.after),
    erased: row.personal === '' && row.personal_hash !== '',
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

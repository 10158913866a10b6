/** Two people who edit the same fields of a record, or of the settings. */
import { HttpError, type RaRecord } from 'react-admin'
import { get, queryOf } from './api.ts'
import { pagesIdentifiedBy } from './pages.ts'
import type { Session } from './session.tsx'
import { loggedText } from './tools/logged.ts'
import type { RecordPages } from './ui/pages.ts'

type Values = Readonly<Record<string, unknown>>

/** The server's state when a conflict was reported to a form, by the record that the form started with. */
const reportedStates = new WeakMap<object, object>()

interface Form {
  readonly of?: RecordPages | undefined
  /** What it goes on with once it was told of a conflict: it shows what others have made of what it has not changed. */
  readonly goOn?: RaRecord<number>
}

/**
 * @param changed the fields to save
 * @param now the record as it is on the server
 * @param before the record that the form started with
 * @throws HttpError when someone else has changed the same fields, or others of those that decide together with one of
 * them, unless this conflict has been reported already
 */
export async function refuseContested(
  changed: object,
  now: object,
  before: object,
  { of, goOn }: Form = {},
): Promise<void> {
  const changesOfOthers = changes({ ...now }, { ...(reportedStates.get(before) ?? before) })
  const overwritten = Object.keys(changes({ ...changed }, { ...now })).filter(name => name in changesOfOthers)
  const { together = [] } = of ?? {}
  const decides = together.some(name => name in changed)
  const beside = decides ? together.filter(name => name in changesOfOthers && !(name in changed)) : []
  if (overwritten.length + beside.length === 0) return
  const { settings } = await get<Session>('session')
  const told = await Promise.all(
    [...overwritten, ...beside].map(async name => [
      name,
      `It is ${await toldOf(name, { ...now }, settings, of)} by now.`,
    ]),
  )
  reportedStates.set(before, now)
  const message = `Someone else has changed this meanwhile. ${adviceOn(overwritten, beside)}`
  throw new HttpError(message, 412, {
    errors: { ...Object.fromEntries(told), root: { serverError: message } },
    goOn,
  })
}

function adviceOn(overwritten: readonly string[], beside: readonly string[]): string {
  if (beside.length === 0) return 'Save again to overwrite their change.'
  if (overwritten.length === 0) return 'Save again to add your change to theirs.'
  return 'Save again to overwrite what you have changed as well; the rest stays as they have it.'
}

/** What has become of fields since a form was opened, as people know it. */
export interface Difference {
  readonly name: string
  readonly before: string
  readonly now: string
}

/** Of the fields that decide something together. */
export async function differencesIn(of: RecordPages, now: object, before: object): Promise<Difference[]> {
  const changed = changes({ ...now }, { ...before })
  // A list that was just left has stored less of it.
  const names = (of.together ?? []).filter(name => name in before && name in changed)
  if (names.length === 0) return []
  const { settings } = await get<Session>('session')
  return Promise.all(
    names.map(async name => ({
      name,
      before: await toldOf(name, { ...before }, settings, of),
      now: await toldOf(name, { ...now }, settings, of),
    })),
  )
}

/** A value as people know it. */
async function toldOf(
  name: string,
  now: Values,
  { currency }: Session['settings'],
  of: RecordPages | undefined,
): Promise<string> {
  const value = now[name]
  if (typeof value === 'boolean') return value ? 'on' : 'off'
  const text = loggedText(name, now, currency, of)
  const pages = pagesIdentifiedBy(name)
  if (text === '' || pages === undefined) return text || 'empty'
  const number = `${pages.name[0].toLowerCase()} ${text}`
  if (pages.titleOf === undefined) return number
  // Not everybody may read it.
  const record = await get<RaRecord<number>>(
    `${pages.resource}/${text}?${queryOf({ ...pages.reads })}`,
  ).catch(() => undefined)
  return record ? pages.titleOf(record) : number
}

/** Only differences are sent, so that two people who edit different fields do not overwrite each other. */
export function changes(data: Values, before: Values): Record<string, unknown> {
  const changedEntries = Object.entries(data).filter(([name, value]) => !isSame(value, before[name]))
  return Object.fromEntries(changedEntries)
}

/** The same of one field of a form, which is empty where the record has nothing, and null once something was erased. */
export const differs = (value: unknown, before: unknown): boolean => !isSame(value ?? '', before ?? '')

/** Numbers may be read as text, which keeps their decimals; and where none is chosen, a form has null and sends 0. */
function isSame(value: unknown, before: unknown): boolean {
  if (value === 0 && before === null) return true
  if (typeof value === 'number' && typeof before === 'string' && before !== '') {
    return value === Number(before)
  }
  return JSON.stringify(value) === JSON.stringify(before)
}

/**
 * Compares each record with the log: finds values that were changed, and records that were added or removed, without the
 * service.
 * Records and events are read in parallel by identifier, so a long log needs no more memory than a short one.
 */

import type { Selectable } from 'kysely'
import { writtenOf } from '../../accounts/keys/rules.ts'
import { type ApiKeysTable, keysTable } from '../../accounts/keys/table.ts'
import { fresh, recordOf } from '../../accounts/users/rules.ts'
import { type UsersTable, usersTable } from '../../accounts/users/table.ts'
import type { Settings } from '../../base/settings.ts'
import { valueInLog } from '../../events/append.ts'
import { creatingActions } from '../../events/schema.ts'
import {
  type Entry,
  entriesOf,
  entriesOfOnly,
  firstAbout,
  firstCreated,
  recordsInLog,
} from '../../events/store.ts'
import type { Feature } from '../../records/feature.ts'
import { settingsRecord } from '../../settings/rules.ts'
import { settingsTable } from '../../settings/table.ts'
import type { Database, Db } from '../../storage/database.ts'
import type { Logged, Table } from '../../storage/table.ts'
import * as store from './store.ts'

const RECORDS_AT_ONCE = 500
const ROLE = 'role'

/** A kind of record whose changes are in the log. */
export interface Trail {
  readonly table: Table & { readonly logged: Logged }
  /** Fields that change without an event of the record, always or in some states. */
  readonly unlogged?: (record: Readonly<Record<string, unknown>>) => readonly string[]
  /** Whether a record is created with another one, and has no event of its own. */
  readonly implied?: Feature['implied']
  /**
   * The values that a record has from another one, and that its own events need not say.
   * @returns undefined if there is no such other one
   */
  readonly basis?: ((db: Db, row: Row, settings: Settings) => Promise<object | undefined>) | undefined
  /** Whether a record counts as deleted although its row remains. */
  readonly ended?: Feature['ended']
  /** The values that an event has of the row. */
  show(row: object, settings: Settings): object
}

/** Accounts, keys and every kind of record. */
export function trailsOf(features: readonly Feature[]): Trail[] {
  return [
    {
      table: usersTable,
      show: (row: Selectable<UsersTable>) => recordOf({ ...row, ...fresh }),
      basis: async (db: Db, { id }: Row) => accountIn(await firstAbout(db, id)),
    },
    {
      table: keysTable,
      show: (row: Selectable<ApiKeysTable>) => writtenOf({ ...row, owner: '', owner_role: '' }),
    },
    ...features.map(({ kind, unlogged, implied, ended, precursor }) => ({
      table: kind.table,
      unlogged: (record: object) => [...kind.unlogged, ...(unlogged?.({ ...record }) ?? [])],
      implied,
      ended,
      show: (row: Row, settings: Settings) => kind.logged(row, settings),
      basis:
        precursor &&
        (async (db: Db, row: Row, settings: Settings) => {
          const before = await precursor(db, row)
          if (!before) return undefined
          const ignored = unlogged?.({ ...before }) ?? []
          const values = Object.entries(kind.logged({ ...before }, settings))
          return Object.fromEntries(values.filter(([name]) => !ignored.includes(name)))
        }),
    })),
  ]
}

/** Describes each record that differs from the log, or that only one of both has. */
export async function* differencesFromLog(
  database: Database,
  trail: Trail,
  settings: Settings,
): AsyncGenerator<string> {
  const { table } = trail
  const db = database.reader
  const firstLogged = await firstCreated(db, table.logged)
  for (let after = 0; ; ) {
    const page = await pageOf(db, trail, after)
    if (page === undefined) return
    for (const [id, row, trace] of page.records) {
      const look = async (db: Db, row: Row | undefined, trace: Trace | undefined) => {
        const story = row && !trace?.isWhole ? await withBasis(db, trail, row, trace, settings) : trace
        return differenceOf(trail, row && trail.show(row, settings), story, id > firstLogged)
      }
      if ((await look(db, row, trace)) === undefined) continue
      // The record may have been changed between reading it and reading the log; one that is edited all the time, again.
      const difference = await database.snapshot(async moment => {
        const reread = await pageOf(moment, trail, id - 1, id)
        const [, rowNow, traceNow] = reread?.records[0] ?? [id, undefined, undefined]
        return look(moment, rowNow, traceNow)
      })
      if (difference !== undefined) yield `${table.name} ${id}: ${difference}`
    }
    after = page.last
  }
}

/**
 * Describes each setting that differs from the log; a setting without an event has to be as in a new database. What follows
 * from others, such as the decimals of the currency, is not logged.
 */
export async function* settingsUnlike(
  db: Db,
  settings: Settings,
  defaults: Settings,
): AsyncGenerator<string> {
  const trace = new Trace({ kind: 'settings', personal: [] })
  for await (const entry of entriesOfOnly(db, 'settings')) trace.add(entry)
  const valuesOf = (of: Settings) => new Map<string, unknown>(Object.entries(settingsRecord(of)))
  const [unset, set] = [valuesOf(defaults), valuesOf(settings)]
  for (const name of settingsTable.logged.plain) {
    const value = set.get(name)
    const loggedValue = trace.of(name)
    const expected = loggedValue === undefined ? valueInLog(unset.get(name)) : loggedValue.value
    if (textOf(expected) === textOf(valueInLog(value))) continue
    const source =
      loggedValue === undefined ? 'the log does not say that it was ever set, so it must be' : 'the log says'
    yield `settings: ${name} is ${textOf(value)}, and ${source} ${textOf(expected)}; it was changed beside the service.`
  }
}

type Row = { readonly id: number } & Readonly<Record<string, unknown>>

/** The account's names in the event of the affiliate that it was created with. */
function accountIn(entry: Pick<Entry, 'action' | 'personal'> | undefined): object | undefined {
  if (!entry) return undefined
  if (entry.action !== 'affiliate.create' || entry.personal === '') return {}
  const { account_login: login, account_email: email } = JSON.parse(entry.personal).after
  return { ...(login !== undefined && { login }), ...(email !== undefined && { email }) }
}

/** An account that was created with an affiliate has no event of its own: that of the affiliate stands for both. */
async function withBasis(
  db: Db,
  { table, basis }: Trail,
  row: Row,
  trace: Trace | undefined,
  settings: Settings,
): Promise<Trace | undefined> {
  const values = await basis?.(db, row, settings)
  if (!values) return trace
  const story = trace ?? (table.logged.person === 'id' ? Trace.ofExisting(table.logged) : undefined)
  story?.goOnFrom(values)
  return story
}

interface Page {
  readonly records: (readonly [id: number, row: Row | undefined, trace: Trace | undefined])[]
  readonly last: number
}

/** The next records in the table or the log. */
async function pageOf(
  db: Db,
  { table }: Trail,
  after: number,
  most = Number.MAX_SAFE_INTEGER,
): Promise<Page | undefined> {
  const rows = await store.rowsAfter(db, table, after, RECORDS_AT_ONCE)
  const logged = await recordsInLog(db, table.logged.kind, after, RECORDS_AT_ONCE)
  if (rows.length + logged.length === 0) return undefined
  const endOf = (ids: readonly number[]) =>
    ids.length < RECORDS_AT_ONCE ? Number.MAX_SAFE_INTEGER : ids.at(-1)!
  const bound = Math.min(endOf(rows.map(({ id }) => id)), endOf(logged), most)
  const byId = new Map(rows.filter(({ id }) => id <= bound).map(row => [row.id, row]))
  const ids = [...new Set([...byId.keys(), ...logged.filter(id => id <= bound)])].sort((a, b) => a - b)
  if (ids.length === 0) return undefined
  const traces = new Map<number, Trace>()
  for await (const entry of entriesOf(db, table.logged.kind, ids[0]!, ids.at(-1)!)) {
    const trace = traces.get(entry.record_id!) ?? new Trace(table.logged)
    trace.add(entry)
    traces.set(entry.record_id!, trace)
  }
  return { records: ids.map(id => [id, byId.get(id), traces.get(id)] as const), last: ids.at(-1)! }
}

/** The state of one record by its events. */
class Trace {
  exists = false
  #isWhole = false
  /** Since an erasure, nobody knows which personal values there were. */
  #isForgotten = false
  readonly #values = new Map<string, unknown>()
  readonly #personal: ReadonlySet<string>
  readonly #creating: ReadonlySet<string>
  #basis: ReadonlyMap<string, unknown> = new Map()

  constructor(logged: Pick<Logged, 'kind' | 'creating' | 'personal'>) {
    this.#personal = new Set(logged.personal)
    this.#creating = new Set(creatingActions(logged))
  }

  add({ action, before_values, after_values, personal, personal_hash }: Entry): void {
    const verb = action.slice(action.indexOf('.') + 1)
    this.exists = verb !== 'delete'
    // A record that is older than the log has events of some fields only. An event of its creation has its date.
    if (before_values === '' && this.#creating.has(action)) {
      this.#isWhole = /"date\w*":/.test(after_values)
      this.#isForgotten = false
    }
    if (verb === 'delete') this.#values.clear()
    else {
      this.#put(before_values, after_values)
      if (personal !== '') this.#putPersonal(personal)
      else if (personal_hash !== '') this.#forgetPersonal()
    }
    if (verb === 'erase') {
      this.#forgetPersonal()
      this.#values.set(ROLE, '')
    }
  }

  static ofExisting(logged: Logged): Trace {
    const trace = new Trace(logged)
    trace.exists = true
    return trace
  }

  /** Whether the events say all that the record has. */
  get isWhole(): boolean {
    return this.#isWhole
  }

  /** @param basis values of another record, for what the events leave out */
  goOnFrom(basis: object): void {
    this.#basis = new Map(Object.entries(basis))
  }

  /** The logged value of a field; undefined where there is none. */
  of(name: string): { readonly value: unknown; readonly isAssumed?: true } | undefined {
    for (const values of [this.#values, this.#basis]) {
      if (values.has(name)) return { value: values.get(name) }
    }
    // Empty values are not logged on creation, and an account that is created with an affiliate has no role.
    const isKnown = this.#isWhole && !(this.#isForgotten && this.#personal.has(name))
    const isEmpty = isKnown || name === ROLE
    return isEmpty ? { value: '', isAssumed: true } : undefined
  }

  #put(before: string, after: string): void {
    this.#assign(before === '' ? {} : JSON.parse(before), after === '' ? {} : JSON.parse(after))
  }

  #putPersonal(text: string): void {
    const { before = {}, after = {} } = JSON.parse(text)
    this.#assign(before, after)
  }

  #assign(before: object, after: object): void {
    for (const name of Object.keys(before)) this.#values.set(name, '')
    for (const [name, value] of Object.entries(after)) this.#values.set(name, value)
  }

  #forgetPersonal(): void {
    this.#isForgotten = true
    for (const name of this.#personal) this.#values.delete(name)
  }
}

function differenceOf(
  { table: { logged }, unlogged, implied, ended }: Trail,
  record: object | undefined,
  trace: Trace | undefined,
  hasToBeLogged: boolean,
): string | undefined {
  if (record === undefined) {
    // Kinds whose creation is not logged are removed without an event, too.
    return trace?.exists && logged.actions.includes('create')
      ? 'the log says that it exists, and it is not there; it was removed beside the service.'
      : undefined
  }
  const values: Readonly<Record<string, unknown>> = { ...record }
  if (trace === undefined) {
    // An account without a role can do nothing. Accounts of the demo come after the first administrator.
    return hasToBeLogged && values[ROLE] !== '' && !implied?.(values)
      ? 'no entry of the log says who made it; it was put in beside the service.'
      : undefined
  }
  const hasEnded = ended?.(values) ?? false
  if (!trace.exists) return hasEnded ? undefined : 'the log says that it was deleted, and it is there.'
  if (hasEnded) return 'the log does not say that it was deleted; it was ended beside the service.'
  const ignored = unlogged?.(values) ?? []
  // Personal values are logged whole, others briefly; until 0.2 these were whole, too.
  const inLog = (name: string, value: unknown) =>
    textOf(logged.personal.includes(name) ? value : valueInLog(value))
  const wrongFields = [...logged.plain, ...logged.personal].filter(name => {
    const loggedValue = ignored.includes(name) || !(name in values) ? undefined : trace.of(name)
    if (loggedValue === undefined) return false
    // A number that was added to the kind after the record was made is not in its log.
    if (loggedValue.isAssumed && values[name] === 0) return false
    return inLog(name, loggedValue.value) !== inLog(name, values[name])
  })
  if (wrongFields.length === 0) return undefined
  const descriptions = wrongFields.map(name =>
    logged.personal.includes(name)
      ? name
      : `${name} (${inLog(name, values[name])}, and the log says ${inLog(name, trace.of(name)!.value)})`,
  )
  return `not what the log says: ${descriptions.join(', ')}; it was changed beside the service.`
}

/** Empty values are stored in several ways. */
function textOf(value: unknown): string {
  return value === null || value === undefined || value === '' ? '""' : JSON.stringify(value)
}

/**
 * The only way to change a record. `write` opens the transaction and passes a `WriteTx`, which carries the actor. The
 * events that the work logs are sent at its end, right before COMMIT, so that no change is without its events and no
 * event without its change.
 * See docs/decisions/write.md.
 */
import type { Origin } from '../base/actor.ts'
import type { Settings } from '../base/settings.ts'
import type { Database, TransactionMode, Tx } from '../storage/database.ts'
import { inSavepoint } from '../storage/savepoint.ts'
import type { Logged, Schema } from '../storage/table.ts'
import type { Tables } from '../storage/tables.ts'
import { type Change, eventsOf } from './append.ts'
import { type Action, loggedIn } from './schema.ts'
import { insertEntries, type NewEntry } from './store.ts'

/** Needed by every rule: the database and the settings. */
export interface Context {
  readonly database: Database
  readonly settings: {
    current(): Promise<Settings>
    /** The settings, locked against changes until the transaction ends. */
    lock(tx: Tx): Promise<Settings>
    /** Reloads them on next use, because this process has changed them. */
    forget(): void
  }
  /**
   * The same context inside a transaction: all reads go through it. If many transactions each asked for a second
   * connection, they would all wait for one another.
   */
  within(tx: Tx): Context
}

/** The context with its actor: the first argument of every rule that writes. */
export interface RequestContext extends Context, Origin {}

/** A transaction with its actor. Only `write` creates one. */
export interface WriteTx extends Tx {
  /**
   * Logs an event. Of a change, only the differences are written; if there are none, there is no event.
   * @param id of the record; null if it has none
   */
  log(action: Action, id: number | null, change?: Change): void
  /** Reserves the identifier of an event that will be logged later, for rows that refer to it. */
  reserveEvent(): Promise<number>
  /** The same for several events. */
  reserveEvents(count: number): Promise<number[]>
  /** Reserves by one statement what `reserveEvent` gives out from now on; what is left over names no event. */
  expectEvents(count: number): Promise<void>
  /**
   * Runs a part of the work: if it throws, neither its changes nor what it has logged remain, and the transaction continues.
   * Nothing else may run in the transaction meanwhile.
   */
  attempt<T>(part: () => Promise<T>): Promise<T>
}

type Writer = Pick<RequestContext, 'database' | 'actor' | 'address'>

/**
 * Runs `work` in a write transaction, or joins the one of the context. It is run again, and logs anew, if it loses a
 * race.
 */
export function write<T>(
  { database, actor, address }: Writer,
  work: (tx: WriteTx) => Promise<T>,
  mode?: TransactionMode,
): Promise<T> {
  return database.transaction(async tx => {
    const entries: NewEntry[] = []
    let hasEnded = false
    const log: WriteTx['log'] = (action, id, change = {}) => {
      if (hasEnded) throw new Error(`The transaction has ended: ${action} comes too late.`)
      entries.push(...eventsOf({ actor, address }, loggedAs(database.schema, action), action, id, change))
    }
    // A separate view: the embedded engine has one `Tx` for all transactions, and a joined one has another actor.
    const view = tx.$pickTables<keyof Tables>()
    const reserveEvents = (count: number) => database.engine.reserveIdentities(tx, 'events', count)
    const expected: number[] = []
    const reserveEvent = async () => expected.pop() ?? database.engine.reserveIdentity(tx, 'events')
    const expectEvents = async (count: number) => {
      expected.push(...(await reserveEvents(count)).reverse())
    }
    const attempt = async <R>(part: () => Promise<R>) => {
      const { length } = entries
      try {
        return await inSavepoint(tx, part)
      } catch (error) {
        entries.length = length
        throw error
      }
    }
    const result = await work(
      Object.assign(view, { writes: true as const, log, reserveEvent, reserveEvents, expectEvents, attempt }),
    )
    hasEnded = true
    if (entries.length > 0) await insertEntries(tx, entries)
    return result
  }, mode)
}

/** The same for work that writes many records: one such transaction at a time. */
export function writeMany<T>(context: Writer, work: (tx: WriteTx) => Promise<T>): Promise<T> {
  return write(context, work, 'many')
}

function loggedAs(schema: Schema, action: Action): Logged {
  const logged = loggedIn(schema).get(action.slice(0, action.indexOf('.')))
  if (!logged) throw new Error(`No table declares what is logged of ${action}.`)
  return logged
}

/** The same context inside an open transaction. */
export function inTransaction(context: RequestContext, tx: Tx): RequestContext {
  const { database, settings } = context.within(tx)
  return {
    database,
    settings,
    within: tx => context.within(tx),
    actor: context.actor,
    address: context.address,
  }
}

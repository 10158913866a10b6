/**
 * The one way to change a record. `write` opens the transaction, and gives the work a `WriteTx`, which carries on whose
 * behalf it is done. What the work logs is sent when it has ended, right before COMMIT, so there is no change without
 * its events and no event without its change.
 * See docs/decisions/write.md.
 */
import type { Origin } from '../base/actor.ts'
import type { Settings } from '../base/settings.ts'
import type { Database, TransactionOptions, Tx } from '../storage/database.ts'
import type { Logged, Schema } from '../storage/table.ts'
import type { Tables } from '../storage/tables.ts'
import { type Change, eventOf } from './append.ts'
import { type Action, loggedIn } from './schema.ts'
import { insertEntries, type NewEntry } from './store.ts'

/** What every rule needs: where the data is and what is configured. */
export interface Context {
  readonly database: Database
  readonly settings: {
    current(): Promise<Settings>
    /** The same, and nobody changes them until the transaction ends. */
    hold(tx: Tx): Promise<Settings>
    /** Reads them again at the next use, because this process has changed them. */
    forget(): void
  }
  /**
   * The same as part of a transaction: whatever is read is read there. If each of many transactions asked for a second
   * connection, all would wait for one another.
   */
  within(tx: Tx): Context
}

/** The same on behalf of somebody: the first argument of every rule that writes. */
export interface RequestContext extends Context, Origin {}

/** A transaction that carries on whose behalf it is. Only `write` makes one. */
export interface WriteTx extends Tx {
  /**
   * Adds an event to the log. Of a change from before to after, only what differs is written; when nothing does, there
   * is no event.
   * @param id of the record; null when it has none
   */
  log(action: Action, id: number | null, change?: Change): void
  /** The identifier of an event that is yet to be logged, for rows that refer to it. */
  reserveEvent(): Promise<number>
  /** The same for several events. */
  reserveEvents(count: number): Promise<number[]>
}

/**
 * Runs `work` in a write transaction, or in the one that the context is part of. It may be run again when it has lost a
 * race, and logs anew then.
 */
export function write<T>(
  { database, actor, address }: Pick<RequestContext, 'database' | 'actor' | 'address'>,
  work: (tx: WriteTx) => Promise<T>,
  options?: TransactionOptions,
): Promise<T> {
  return database.transaction(async tx => {
    const entries: NewEntry[] = []
    let hasEnded = false
    const log: WriteTx['log'] = (action, id, change = {}) => {
      if (hasEnded) throw new Error(`The transaction has ended: ${action} comes too late.`)
      const entry = eventOf({ actor, address }, loggedAs(database.schema, action), action, id, change)
      if (entry) entries.push(entry)
    }
    // A view of its own: the embedded engine has one `Tx` for all transactions, and a joined one has another's origin.
    const view = tx.$pickTables<keyof Tables>()
    const reserveEvent = () => database.engine.reserveIdentity(tx, 'events')
    const reserveEvents = (count: number) => database.engine.reserveIdentities(tx, 'events', count)
    const result = await work(
      Object.assign(view, { writes: true as const, log, reserveEvent, reserveEvents }),
    )
    hasEnded = true
    if (entries.length > 0) await insertEntries(tx, entries)
    return result
  }, options)
}

function loggedAs(schema: Schema, action: Action): Logged {
  const logged = loggedIn(schema).get(action.slice(0, action.indexOf('.')))
  if (!logged) throw new Error(`No table declares what is logged of ${action}.`)
  return logged
}

/** The same, in a transaction that is open. */
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

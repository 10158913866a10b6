/** What a rule is given: the database, the settings, and on whose behalf it acts. */
import type { Origin } from '../base/actor.ts'
import type { Settings } from '../base/settings.ts'
import type { Database, Tx } from '../storage/database.ts'

/** What every rule needs: where the data is and what is configured. */
export interface Context {
  readonly database: Database
  readonly settings: {
    current(): Promise<Settings>
    /** Reads them again at the next use, because this process has changed them. */
    forget(): void
  }
  /**
   * The same as part of a transaction: whatever is read is read there. If each of many transactions asked for a second
   * connection, all would wait for one another.
   */
  within(tx: Tx): Context
}

/** The same, on behalf of somebody. */
export interface RequestContext extends Context, Origin {}

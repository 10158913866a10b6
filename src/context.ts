import type { SettingsCache } from './settings/rules.ts'
import type { Database } from './storage/database.ts'

/** On whose behalf a request is made, and what it may do. */
export interface Actor {
  /** The account: the owner of the API key, or who has logged in. */
  readonly userId: number
  readonly permissions: ReadonlySet<string>
  /** How the log names the credential: the public part of the API key, or whose session it is. */
  readonly name: string
  /** The hash of the session's identifier, when it is no API key. */
  readonly session?: string
}

/** What every rule needs: where the data is and what is configured. */
export interface Context {
  readonly database: Database
  readonly settings: SettingsCache
}

/** The same, on behalf of somebody. */
export interface RequestContext extends Context {
  readonly actor: Actor
}

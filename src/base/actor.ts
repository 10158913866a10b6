/** The actor of a request: identity, permissions and network address. */

/** The identity that a request runs as, and its permissions. */
export interface Actor {
  readonly kind: 'key' | 'session' | 'visitor' | 'command line' | 'service'
  /** User account: the owner of the API key, or the user who has logged in. */
  readonly userId: number
  readonly permissions: ReadonlySet<string>
  /** Name of the credential in the log: the public part of the API key, or for example 'session of account 5'. */
  readonly name: string
  /** Hash of the session identifier; absent for API keys. */
  readonly session?: string
}

/** The actor of a change and the address it came from, as the audit log records them. */
export interface Origin {
  readonly actor: Actor
  /** The client's network address; taken from a trusted proxy's header where there is one. */
  readonly address: string
}

const operator = (kind: 'command line' | 'service'): Origin => ({
  actor: { kind, userId: 0, permissions: new Set(), name: kind },
  address: kind,
})

/** An operator on the machine that holds the data, who needs no credential. */
export const commandLine = operator('command line')
/** The service itself, for background work that nobody requested. */
export const service = operator('service')

/** Who acts, with what permissions and from where. */

/** On whose behalf a request is made, and what it may do. */
export interface Actor {
  readonly kind: 'key' | 'session' | 'visitor' | 'command line' | 'service'
  /** The account: the owner of the API key, or who has logged in. */
  readonly userId: number
  readonly permissions: ReadonlySet<string>
  /** How the log names the credential: the public part of the API key, or whose session it is. */
  readonly name: string
  /** The hash of the session's identifier, when it is no API key. */
  readonly session?: string
}

/** Who does something, and from where: what the audit log says of a change. */
export interface Origin {
  readonly actor: Actor
  /** The client's network address; a proxy that is trusted names it. */
  readonly address: string
}

const operator = (kind: 'command line' | 'service'): Origin => ({
  actor: { kind, userId: 0, permissions: new Set(), name: kind },
  address: kind,
})

/** The operator on the machine where the data is, who needs no credential. */
export const commandLine = operator('command line')
/** The service itself: background work that nobody requested. */
export const service = operator('service')

/** Transactions that share a commit. See docs/decisions/shared-commits.md. */
export interface Batch {
  readonly members: Member[]
  /** Each transaction runs in a savepoint. */
  careful: boolean
  readonly committed: PromiseWithResolvers<void>
}

/** A transaction, which is run again if another one of its batch fails. */
export interface Member {
  readonly run: () => Promise<void>
  /** Why it failed when it was run again. */
  failure: unknown
}

/** Transactions that share a commit. See docs/decisions/shared-commits.md. */
import { afterAnswers } from '../../base/turn.ts'

const GROWS_FOR_MS = 5

export interface Batch {
  /** By `performance.now()`. */
  readonly beganAt: number
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

/** An empty batch. @param careful runs each transaction in a savepoint */
export function newBatch(careful: boolean): Batch {
  const committed = Promise.withResolvers<void>()
  // A batch in which every transaction failed has no listener.
  committed.promise.catch(() => {})
  return { beganAt: performance.now(), members: [], careful, committed }
}

/**
 * Calls back when a turn of the event loop has brought the batch no further transaction, because more share the commit then,
 * or when it has grown for long. To be called again with each that it gets.
 */
export function onceGrown({ members, beganAt }: Batch, commit: () => void): void {
  const size = members.length
  afterAnswers(() =>
    afterAnswers(() => {
      if (members.length === size || performance.now() > beganAt + GROWS_FOR_MS) commit()
    }),
  )
}

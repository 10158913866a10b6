/** Transactions that share a commit. See docs/decisions/shared-commits.md. */
import { afterAnswers } from '../../base/turn.ts'

/** For how long transactions join a batch. */
const GROWS_FOR_MS = 5

export interface Batch {
  /** By `performance.now()`. */
  readonly beganAt: number
  readonly members: Member[]
  /** Whether each transaction runs in a savepoint. */
  careful: boolean
  readonly committed: PromiseWithResolvers<void>
}

/** A transaction, which is run again if another one of its batch fails. */
export interface Member {
  readonly run: () => Promise<void>
  /** Whether nobody waits until it is on disk. */
  readonly relaxed: boolean
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

/** Whether nobody waits until the batch is on disk. */
export const isRelaxed = ({ members }: Batch): boolean =>
  members.length > 0 && members.every(({ relaxed }) => relaxed)

/**
 * Calls `commit` once a turn of the event loop has brought no further transaction to share the commit, or the batch has grown for
 * long enough. To be called for each transaction that joins it.
 */
export function onceGrown({ members, beganAt }: Batch, commit: () => void): void {
  const size = members.length
  afterAnswers(() =>
    afterAnswers(() => {
      if (members.length === size || performance.now() > beganAt + GROWS_FOR_MS) commit()
    }),
  )
}

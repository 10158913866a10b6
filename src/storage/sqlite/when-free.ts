import { setTimeout as delay } from 'node:timers/promises'
import { primaryCode, SQLITE_BUSY } from './errors.ts'

/** Pause before the next attempt, as a share of the time waited so far. */
const PAUSE_SHARE = 0.05
const SHORTEST_PAUSE_MS = 1
const LONGEST_PAUSE_MS = 20
/** How long to wait once the service is about to end. */
const LAST_MS = 500

/**
 * Locks the file for writing once no other process has it locked, without blocking this process. Pauses are short at first: with
 * long ones, another process that locks the file again right after its commit would always win.
 * @param giveUpAt by `performance.now()`
 * @param cutOff aborted when the service is about to end
 * @throws what `take` throws, for any other reason or after that time
 */
export async function whenFree(
  giveUpAt: number,
  cutOff: AbortSignal | undefined,
  take: () => void,
): Promise<void> {
  const beganAt = performance.now()
  for (;;) {
    try {
      return take()
    } catch (error) {
      const at = performance.now()
      const lastAt = cutOff?.aborted ? Math.min(giveUpAt, beganAt + LAST_MS) : giveUpAt
      if (primaryCode(error) !== SQLITE_BUSY || at > lastAt) throw error
      const pauseMs = Math.min((at - beganAt) * PAUSE_SHARE, LONGEST_PAUSE_MS) * (0.5 + Math.random())
      await delay(Math.max(pauseMs, SHORTEST_PAUSE_MS))
    }
  }
}

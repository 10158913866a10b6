import { setTimeout as delay } from 'node:timers/promises'
import { primaryCode, SQLITE_BUSY } from './errors.ts'

/** Pause before the next attempt, as a share of the time that was waited for. */
const PAUSE_SHARE = 0.05
const SHORTEST_PAUSE_MS = 1
const LONGEST_PAUSE_MS = 20
/** How long one waits once the service waits for nobody any more. */
const LAST_MS = 500

/**
 * Takes the file for writing when no other process has it, without blocking this one. It asks often at first: with long
 * pauses, a process that takes the file again right after its commit would always be first.
 * @param giveUpAt by `performance.now()`
 * @param cutOff aborted when it is to be given up soon
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

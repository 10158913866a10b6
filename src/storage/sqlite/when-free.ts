import { setTimeout as delay } from 'node:timers/promises'
import { primaryCode, SQLITE_BUSY } from './errors.ts'

/** Pause before the next attempt, as a share of the time that was waited for. */
const PAUSE_SHARE = 0.05
const SHORTEST_PAUSE_MS = 1
const LONGEST_PAUSE_MS = 20

/**
 * Takes the file for writing when no other process has it, without blocking this one. It asks often at first: with long
 * pauses, a process that takes the file again right after its commit would always be first.
 * @param giveUpAt by `performance.now()`
 * @throws what `take` throws, for any other reason or after that time
 */
export async function whenFree(giveUpAt: number, take: () => void): Promise<void> {
  const beganAt = performance.now()
  for (;;) {
    try {
      return take()
    } catch (error) {
      const at = performance.now()
      if (primaryCode(error) !== SQLITE_BUSY || at > giveUpAt) throw error
      const pauseMs = Math.min((at - beganAt) * PAUSE_SHARE, LONGEST_PAUSE_MS) * (0.5 + Math.random())
      await delay(Math.max(pauseMs, SHORTEST_PAUSE_MS))
    }
  }
}

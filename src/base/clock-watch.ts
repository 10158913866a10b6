/** Notices that somebody sets the clock, for what cannot be undone if that was a mistake. See docs/decisions/clock.md. */
import { uptime } from 'node:os'

/** If the clock gains or loses more than this between two calls, somebody has set it. */
const SET_MS = 120_000
/** For how long a clock that was set ahead is doubtful: what is removed or released by a wrong one does not come back. */
const DOUBTFUL_MS = 3_600_000

/** The clock minus the time since the machine started; changes only if somebody sets the clock. */
let aheadMs = Date.now() - passedMs()
let doubtfulUntil = 0

/** Whether the clock was found set ahead within the last hour, and not back since. */
export function isClockDoubtful(): boolean {
  const passed = passedMs()
  const setMs = Date.now() - passed - aheadMs
  aheadMs += setMs
  if (setMs > SET_MS) doubtfulUntil = passed + DOUBTFUL_MS
  if (setMs < -SET_MS) doubtfulUntil = 0
  return passed < doubtfulUntil
}

/** Time since the machine was started. Unlike `performance.now()` it includes time in which the machine was suspended. */
function passedMs(): number {
  return uptime() * 1000
}

/**
 * A turn of the event loop: requests that arrived together are performed, then their answers are sent, then what takes
 * longer is done.
 * See docs/decisions/sent-together.md.
 */

/** In a longer turn, answers are sent in several parts. */
const HELD_FOR_MS = 2

let held: (() => void)[] = []
let since = 0

/** @param send sends an answer and does not throw; called at the end of the turn, or earlier where the turn is long */
export function sendWithOthers(send: () => void): void {
  const now = performance.now()
  if (held.length === 0) {
    since = now
    setImmediate(sendHeld)
  }
  held.push(send)
  if (now - since > HELD_FOR_MS) sendHeld()
}

/** @param work called at the end of the turn, when answers that are ready have been sent */
export function afterAnswers(work: () => void): void {
  setImmediate(() => {
    sendHeld()
    work()
  })
}

function sendHeld(): void {
  const all = held
  held = []
  for (const send of all) send()
}

/**
 * Requests of visitors yield to those with a key: they are answered at the end of a turn of the event loop, for a few
 * milliseconds per turn. However many visitors come, other requests wait no longer than that; on an idle process a
 * visitor does not wait at all.
 */

import { afterAnswers } from '../../base/turn.ts'

/** Per turn. */
const ANSWERING_MS = 5
/** A visitor behind this many would wait for seconds, and is refused. */
const MOST_WAITING = 8192

export class VisitorQueue {
  #waiting: (() => void)[] = []
  #next = 0

  /**
   * @param answer called soon, to answer the visitor
   * @returns false when the queue is full; `answer` will not be called
   */
  add(answer: () => void): boolean {
    if (this.#waiting.length - this.#next >= MOST_WAITING) return false
    if (this.#waiting.length === 0) afterAnswers(this.#answer)
    this.#waiting.push(answer)
    return true
  }

  #answer = () => {
    const until = performance.now() + ANSWERING_MS
    while (this.#next < this.#waiting.length && performance.now() < until) this.#waiting[this.#next++]!()
    this.#waiting.splice(0, this.#next)
    this.#next = 0
    if (this.#waiting.length > 0) afterAnswers(this.#answer)
  }
}

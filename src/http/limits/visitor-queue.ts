/**
 * Visitors wait for callers with a key: what has arrived is answered at the end of a turn of the event loop, for some
 * milliseconds of each. However many visitors come, a request of the interface waits for no more than that. On an idle process
 * a visitor waits for nothing.
 */

/** Of each turn. */
const ANSWERING_MS = 5
/** Beyond these a visitor would wait for seconds, and is refused. */
const MOST_WAITING = 8192

export class VisitorQueue {
  #waiting: (() => void)[] = []
  #next = 0

  /**
   * @param answer begins to answer a visitor, soon
   * @returns false when too many wait already, and it will not be called
   */
  add(answer: () => void): boolean {
    if (this.#waiting.length - this.#next >= MOST_WAITING) return false
    if (this.#waiting.length === 0) setImmediate(this.#answer)
    this.#waiting.push(answer)
    return true
  }

  #answer = () => {
    const until = performance.now() + ANSWERING_MS
    while (this.#next < this.#waiting.length && performance.now() < until) this.#waiting[this.#next++]!()
    this.#waiting.splice(0, this.#next)
    this.#next = 0
    if (this.#waiting.length > 0) setImmediate(this.#answer)
  }
}

import { DatabaseUnavailable } from '../database.ts'

/** How many may do something at once; others wait, first come, first served. */
export class Places {
  #free: number
  readonly #waitMs: number
  readonly #waiting = new Set<() => void>()

  /** @param waitMs how long one waits at most */
  constructor(count: number, waitMs: number) {
    this.#free = count
    this.#waitMs = waitMs
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /**
   * @param work receives how long it may wait for something else, where it has waited for a place already
   * @throws DatabaseUnavailable if there was none for long
   */
  async within<T>(work: (leftMs?: number) => Promise<T>): Promise<T> {
    const leftMs = await this.#take()
    try {
      return await work(leftMs)
    } finally {
      const [next] = this.#waiting
      if (next) next()
      else this.#free += 1
    }
  }

  #take(): Promise<number> | undefined {
    if (this.#free > 0) {
      this.#free -= 1
      return undefined
    }
    const giveUpAt = performance.now() + this.#waitMs
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        this.#waiting.delete(begin)
        resolve(Math.max(giveUpAt - performance.now(), 0))
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(begin)
        reject(new DatabaseUnavailable('PostgreSQL: all connections are busy'))
      }, this.#waitMs)
      this.#waiting.add(begin)
    })
  }
}

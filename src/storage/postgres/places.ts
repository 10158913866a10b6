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

  /** @throws DatabaseUnavailable if there was none for long */
  async within<T>(work: () => Promise<T>): Promise<T> {
    if (this.#free > 0) this.#free -= 1
    else await this.#next()
    try {
      return await work()
    } finally {
      const [next] = this.#waiting
      if (next) next()
      else this.#free += 1
    }
  }

  #next(): Promise<void> {
    return new Promise((resolve, reject) => {
      const begin = () => {
        clearTimeout(timer)
        this.#waiting.delete(begin)
        resolve()
      }
      const timer = setTimeout(() => {
        this.#waiting.delete(begin)
        reject(new DatabaseUnavailable('PostgreSQL: all connections are busy'))
      }, this.#waitMs)
      this.#waiting.add(begin)
    })
  }
}

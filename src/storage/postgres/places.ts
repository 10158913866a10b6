import { DatabaseUnavailable } from '../database.ts'

interface Waiting {
  begin(): void
  giveUp(why: string): void
}

/** Limits how many may do something at once; others wait, first come, first served. */
export class Places {
  #free: number
  readonly #waitMs: number
  readonly #waiting = new Set<Waiting>()
  #isClosed = false

  /** @param waitMs the longest wait */
  constructor(count: number, waitMs: number) {
    this.#free = count
    this.#waitMs = waitMs
  }

  get waiting(): number {
    return this.#waiting.size
  }

  /** Sends away those who wait, and from now on those who would have to wait. */
  close(): void {
    this.#isClosed = true
    this.sendAway()
  }

  /** Sends away those who wait. */
  sendAway(): void {
    for (const { giveUp } of this.#waiting) giveUp('the service ends')
  }

  /**
   * @param work receives how long it may still wait for something else; undefined if it did not wait for its place
   * @throws DatabaseUnavailable if there was no place for too long
   */
  async within<T>(work: (leftMs?: number) => Promise<T>): Promise<T> {
    const leftMs = await this.#take()
    try {
      return await work(leftMs)
    } finally {
      const [next] = this.#waiting
      if (next) next.begin()
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
      const end = () => {
        clearTimeout(timer)
        this.#waiting.delete(waiting)
      }
      const waiting: Waiting = {
        begin: () => {
          end()
          resolve(Math.max(giveUpAt - performance.now(), 0))
        },
        giveUp: why => {
          end()
          reject(new DatabaseUnavailable(`PostgreSQL: ${why}`))
        },
      }
      const timer = setTimeout(() => waiting.giveUp('all connections are busy'), this.#waitMs)
      this.#waiting.add(waiting)
      if (this.#isClosed) waiting.giveUp('the service ends')
    })
  }
}

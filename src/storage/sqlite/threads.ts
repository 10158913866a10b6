/**
 * Threads that read the embedded database. A query of `node:sqlite` keeps its thread busy until it ends, so one that
 * looks at millions of rows would make every request wait; here it makes nobody wait but those who asked for it.
 * See docs/decisions/embedded-reads.md.
 */
import type { SQLInputValue } from 'node:sqlite'
import { Worker } from 'node:worker_threads'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'

/** So many that a page opens while a long report is on its way, and no more than a small machine has cores. */
const MAX_THREADS = 3

export interface Query {
  readonly number: number
  readonly text: string
  readonly parameters: SQLInputValue[]
}

export interface Result {
  readonly number: number
  readonly rows?: unknown[]
  readonly error?: object
}

interface Thread {
  readonly worker: Worker
  readonly asked: Map<number, PromiseWithResolvers<unknown[]>>
}

// The build has it as JavaScript, in one folder with this.
const program = new URL(`./thread.${import.meta.url.split('.').at(-1)}`, import.meta.url)

/** As a connection of Kysely's that takes any number of queries at once. */
export class SqliteThreads implements DatabaseConnection {
  readonly #threads = new Set<Thread>()
  readonly #workerData: { file: string; busyTimeoutMs: number }
  readonly #translate: (error: unknown) => unknown
  #queries = 0
  #closed = false

  /** @param translate turns an error of SQLite into one that the rest of the program knows */
  constructor(file: string, busyTimeoutMs: number, translate: (error: unknown) => unknown) {
    this.#workerData = { file, busyTimeoutMs }
    this.#translate = translate
  }

  async executeQuery<R>({ sql: text, parameters }: CompiledQuery): Promise<QueryResult<R>> {
    const thread = this.#thread()
    const number = ++this.#queries
    const asked = Promise.withResolvers<unknown[]>()
    thread.asked.set(number, asked)
    thread.worker.ref()
    thread.worker.postMessage({ number, text, parameters: parameters as SQLInputValue[] } satisfies Query)
    try {
      return { rows: (await asked.promise) as R[] }
    } catch (error) {
      throw this.#translate(error)
    }
  }

  // biome-ignore lint/correctness/useYield: lists are read page by page, so that no reader holds the file.
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('Not supported: read page by page.')
  }

  async close(): Promise<void> {
    this.#closed = true
    await Promise.all([...this.#threads].map(({ worker }) => worker.terminate()))
  }

  /** One that is idle, else a new one, else the one that is asked least. */
  #thread(): Thread {
    if (this.#closed) throw this.#translate({ code: 'ERR_INVALID_STATE', message: 'closed' })
    const [least] = [...this.#threads].sort((a, b) => a.asked.size - b.asked.size)
    if (least && (least.asked.size === 0 || this.#threads.size >= MAX_THREADS)) return least
    return this.#start()
  }

  #start(): Thread {
    const worker = new Worker(program, { workerData: this.#workerData })
    const thread: Thread = { worker, asked: new Map() }
    this.#threads.add(thread)
    worker.on('message', ({ number, rows, error }: Result) => {
      const asked = thread.asked.get(number)!
      thread.asked.delete(number)
      if (thread.asked.size === 0) worker.unref()
      if (rows) asked.resolve(rows)
      else asked.reject(Object.assign(new Error(), error))
    })
    let failure: unknown
    worker.on('error', error => {
      failure = error
    })
    worker.on('exit', () => {
      this.#threads.delete(thread)
      for (const { reject } of thread.asked.values()) {
        reject(failure ?? { code: 'ERR_INVALID_STATE', message: 'closed' })
      }
    })
    return thread
  }
}

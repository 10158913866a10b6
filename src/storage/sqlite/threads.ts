/**
 * Threads that read the embedded database. A query of `node:sqlite` keeps its thread busy until it ends, so one that
 * looks at millions of rows would make every request wait; here it makes nobody wait but those who asked for it.
 * See docs/decisions/embedded-reads.md.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import type { CompiledQuery, DatabaseConnection, QueryResult } from 'kysely'
import type { ReadBudget } from '../budget.ts'
import { rowsOf } from '../rows.ts'
import { Turns } from '../turns.ts'

/** So many that a page opens while a long report is on its way, and no more than a small machine has cores. */
const MAX_THREADS = 3
/** For a query to end when the database is closed. */
const CLOSING_MS = 1000

export interface Query {
  readonly text: string
  readonly parameters: readonly unknown[]
}

export interface Result {
  readonly rows?: unknown[]
  readonly error?: object
}

/** What a thread is started with. */
export interface ThreadData {
  readonly file: string
  readonly busyTimeoutMs: number
}

interface Thread {
  readonly worker: Worker
  /** Who waits for its answer. */
  asked: PromiseWithResolvers<unknown[]> | undefined
}

// The build has it as JavaScript, in one folder with this.
const program = new URL(`./thread.${import.meta.url.split('.').at(-1)}`, import.meta.url)

/** As a connection of Kysely's that takes any number of queries at once. */
export class ThreadedConnection implements DatabaseConnection {
  readonly #read: (query: CompiledQuery) => Promise<unknown[]>

  constructor(read: (query: CompiledQuery) => Promise<unknown[]>) {
    this.#read = read
  }

  async executeQuery<R>(query: CompiledQuery): Promise<QueryResult<R>> {
    return { rows: rowsOf<R>(await this.#read(query)) }
  }

  // biome-ignore lint/correctness/useYield: lists are read page by page, so that no reader holds the file.
  async *streamQuery(): AsyncIterableIterator<never> {
    throw new Error('Not supported: read page by page.')
  }
}

export class SqliteThreads {
  readonly #turns = new Turns(MAX_THREADS)
  readonly #idle: Thread[] = []
  readonly #threads = new Set<Thread>()
  readonly #workerData: ThreadData
  readonly #translate: (error: unknown) => unknown
  #closed = false

  /** @param translate turns an error of SQLite into one that the rest of the program knows */
  constructor(file: string, busyTimeoutMs: number, translate: (error: unknown) => unknown) {
    this.#workerData = { file, busyTimeoutMs }
    this.#translate = translate
  }

  async read(query: CompiledQuery, budget: ReadBudget | undefined): Promise<unknown[]> {
    try {
      return await this.#turns.read(budget, () => this.#ask(query))
    } catch (error) {
      throw this.#translate(error)
    }
  }

  /**
   * A query that is under way can't be broken off: a thread that is in the middle of one is left behind. Who waits for its
   * answer hears so at once: nothing else keeps the process, which would end in the middle of what waits.
   */
  async close(): Promise<void> {
    this.#closed = true
    const ending = Promise.all([...this.#threads].map(({ worker }) => worker.terminate()))
    const waited = new AbortController()
    await Promise.race([ending, delay(CLOSING_MS, undefined, { signal: waited.signal }).catch(() => {})])
    waited.abort()
    for (const thread of this.#threads) {
      leaveBehind(thread.worker)
      thread.asked?.reject(closed)
    }
  }

  async #ask({ sql: text, parameters }: CompiledQuery): Promise<unknown[]> {
    if (this.#closed) throw closed
    const thread = this.#idle.pop() ?? this.#start()
    const answer = Promise.withResolvers<unknown[]>()
    thread.asked = answer
    thread.worker.ref()
    thread.worker.postMessage({ text, parameters } satisfies Query)
    return answer.promise
  }

  #start(): Thread {
    const worker = new Worker(program, { workerData: this.#workerData })
    const thread: Thread = { worker, asked: undefined }
    this.#threads.add(thread)
    worker.on('message', ({ rows, error }: Result) => {
      const { asked } = thread
      thread.asked = undefined
      worker.unref()
      this.#idle.push(thread)
      if (rows) asked!.resolve(rows)
      else asked!.reject(Object.assign(new Error(), error))
    })
    let failure: unknown
    worker.on('error', error => {
      failure = error
    })
    worker.on('exit', () => {
      this.#threads.delete(thread)
      const index = this.#idle.indexOf(thread)
      if (index >= 0) this.#idle.splice(index, 1)
      thread.asked?.reject(failure ?? closed)
    })
    return thread
  }
}

const closed = { code: 'ERR_INVALID_STATE', message: 'closed' }

/**
 * At its end Node waits for its threads, and for a query one may wait long. So the process becomes another one at its end,
 * which does nothing but end with the same code.
 */
function leaveBehind(worker: Worker): void {
  worker.unref()
  const become = (code: number) => {
    // Who hears of the end before this may have set another code since.
    const last = process.exitCode ?? code
    process.execve?.(process.execPath, [process.execPath, '--eval', `process.exit(${last})`])
  }
  process.on('exit', become)
  worker.on('exit', () => process.off('exit', become))
}

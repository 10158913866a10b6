/**
 * Threads that read the embedded database. A query of `node:sqlite` blocks its thread, so one over millions of rows would
 * delay every request; on these threads only its own callers wait.
 * See docs/decisions/embedded-reads.md.
 */
import { setTimeout as delay } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { CompiledQuery, type DatabaseConnection, type QueryResult } from 'kysely'
import type { ReadBudget } from '../budget.ts'
import { rowsOf } from '../rows.ts'
import { Turns } from '../turns.ts'

/** Enough to open a page during a long report, and not too many for a small machine. */
const MAX_THREADS = 3
const BEGIN = CompiledQuery.raw('BEGIN')
const ROLLBACK = CompiledQuery.raw('ROLLBACK')
/** How long to wait for running queries when the database is closed. */
const CLOSING_MS = 1000

export interface Query {
  readonly text: string
  readonly parameters: readonly unknown[]
}

export interface Result {
  readonly rows?: unknown[]
  readonly error?: object
}

export type ReadOnThread = (query: CompiledQuery) => Promise<unknown[]>

/** Start data of a thread. */
export interface ThreadData {
  readonly file: string
  /** Whether nothing may be written beside the file either. */
  readonly readOnly: boolean
}

interface Thread {
  readonly worker: Worker
  /** Callers that wait for answers, in the order in which these come. */
  readonly asked: PromiseWithResolvers<unknown[]>[]
}

// JavaScript in the build, in the same folder.
const program = new URL(`./thread.${import.meta.url.split('.').at(-1)}`, import.meta.url)

/** A Kysely connection that takes any number of concurrent queries. */
export class ThreadedConnection implements DatabaseConnection {
  readonly #read: ReadOnThread

  constructor(read: ReadOnThread) {
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

  /** @param translate translates SQLite's errors */
  constructor(file: string, readOnly: boolean, translate: (error: unknown) => unknown) {
    this.#workerData = { file, readOnly }
    this.#translate = translate
  }

  async read(query: CompiledQuery, budget: ReadBudget | undefined): Promise<unknown[]> {
    return this.#onThread(budget, thread => this.#ask(thread, query))
  }

  /** Runs `work` in a read transaction. @param work gets a function that reads in it */
  snapshot<T>(work: (read: ReadOnThread) => Promise<T>, budget: ReadBudget | undefined): Promise<T> {
    return this.#onThread(budget, async (thread, goOn) => {
      await this.#ask(thread, BEGIN)
      try {
        return await work(async query => {
          goOn()
          return this.#ask(thread, query)
        })
      } finally {
        // This fails if SQLite has ended the transaction itself, because the disk failed. A thread that might not have ended it is
        // not used again: it would read an old state.
        await this.#ask(thread, ROLLBACK).catch(() => this.#discard(thread))
      }
    })
  }

  #discard(thread: Thread): void {
    this.#threads.delete(thread)
    thread.worker.terminate()
  }

  async #onThread<T>(
    budget: ReadBudget | undefined,
    work: (thread: Thread, goOn: () => void) => Promise<T>,
  ): Promise<T> {
    try {
      return await this.#turns.read(budget, async goOn => {
        // Nobody would end a thread that starts now, and it would keep the process alive.
        if (this.#closed) throw closed
        const thread = this.#idle.pop() ?? this.#start()
        try {
          return await work(thread, goOn)
        } finally {
          if (this.#threads.has(thread)) this.#idle.push(thread)
        }
      })
    } catch (error) {
      throw this.#translate(error)
    }
  }

  /**
   * A running query cannot be interrupted, so its thread is left behind. Its callers get an error now: nothing else keeps the process
   * alive, so it would end while they wait.
   */
  async close(): Promise<void> {
    this.#closed = true
    const ending = Promise.all([...this.#threads].map(({ worker }) => worker.terminate()))
    const waited = new AbortController()
    await Promise.race([ending, delay(CLOSING_MS, undefined, { signal: waited.signal }).catch(() => {})])
    waited.abort()
    for (const thread of this.#threads) {
      leaveBehind(thread.worker)
      for (const asked of thread.asked) asked.reject(closed)
    }
  }

  async #ask(thread: Thread, { sql: text, parameters }: CompiledQuery): Promise<unknown[]> {
    if (this.#closed || !this.#threads.has(thread)) throw closed
    const answer = Promise.withResolvers<unknown[]>()
    thread.asked.push(answer)
    thread.worker.ref()
    thread.worker.postMessage({ text, parameters } satisfies Query)
    return answer.promise
  }

  #start(): Thread {
    const worker = new Worker(program, { workerData: this.#workerData })
    const thread: Thread = { worker, asked: [] }
    this.#threads.add(thread)
    worker.on('message', ({ rows, error }: Result) => {
      const asked = thread.asked.shift()!
      if (thread.asked.length === 0) worker.unref()
      if (rows) asked.resolve(rows)
      else asked.reject(Object.assign(new Error(), error))
    })
    let failure: unknown
    worker.on('error', error => {
      failure = error
    })
    worker.on('exit', () => {
      this.#threads.delete(thread)
      const index = this.#idle.indexOf(thread)
      if (index >= 0) this.#idle.splice(index, 1)
      for (const asked of thread.asked) asked.reject(failure ?? closed)
    })
    return thread
  }
}

const closed = { code: 'ERR_INVALID_STATE', message: 'closed' }

/**
 * At its exit, Node waits for its threads, and a query may take long. So the process replaces itself by one that only exits with the
 * same code.
 */
function leaveBehind(worker: Worker): void {
  worker.unref()
  const become = (code: number) => {
    // Exit handlers that ran earlier may have set another code.
    const last = process.exitCode ?? code
    process.execve?.(process.execPath, [process.execPath, '--eval', `process.exit(${last})`])
  }
  process.on('exit', become)
  worker.on('exit', () => process.off('exit', become))
}

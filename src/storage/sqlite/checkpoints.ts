/**
 * Moves what was committed from the write-ahead log into the file, on a thread, before there is so much of it that SQLite
 * does so within a commit: all callers would wait for as long.
 * See docs/decisions/shared-commits.md.
 */
import { CompiledQuery } from 'kysely'
import { PAGES_IN_LOG } from './connect.ts'
import type { Statements } from './statements.ts'
import type { SqliteThreads } from './threads.ts'

/** Half of those at which SQLite does it by itself, so that few are left then. */
const PAGES = PAGES_IN_LOG / 2

/** An older SQLite cannot be asked how much there is; it moves pages within commits as by itself. */
const CAN_BE_ASKED = process.versions.sqlite!.localeCompare('3.51', 'en', { numeric: true }) >= 0

const MOVE = CompiledQuery.raw('PRAGMA wal_checkpoint(PASSIVE)')

export class Checkpoints {
  readonly #writes: Statements
  readonly #threads: SqliteThreads
  #isMoving = false

  constructor(writes: Statements, threads: SqliteThreads) {
    this.#writes = writes
    this.#threads = threads
  }

  /** To be called after each commit. Where moving fails, pages stay in the log, and the next commit tries again. */
  committed(): void {
    if (this.#isMoving || !CAN_BE_ASKED) return
    this.#isMoving = true
    const done = () => {
      this.#isMoving = false
    }
    this.#move().then(done, done)
  }

  async #move(): Promise<void> {
    const [pages] = this.#writes.all('PRAGMA wal_checkpoint(NOOP)', [])
    if (Number(pages!.log) - Number(pages!.checkpointed) < PAGES) return
    await this.#threads.read(MOVE, undefined)
  }
}

/**
 * Moves committed pages from the write-ahead log into the file (a checkpoint). Most are moved on a thread, because all callers would
 * have to wait meanwhile; the rest is moved after a commit, so that SQLite begins the log anew.
 * See docs/decisions/shared-commits.md.
 */
import { CompiledQuery } from 'kysely'
import { CAN_BE_ASKED, PAGES_IN_LOG } from './connect.ts'
import type { Statements } from './statements.ts'
import type { SqliteThreads } from './threads.ts'

/** The thread begins when this many pages are to be moved, so that few are left when the log is emptied. */
const PAGES = PAGES_IN_LOG / 2

const MOVE = 'PRAGMA wal_checkpoint(PASSIVE)'

export class Checkpoints {
  readonly #reads: Statements
  readonly #writes: Statements
  readonly #threads: SqliteThreads
  #isMoving = false
  /** How many pages the log had after the last commit, and how many of those were not moved yet. */
  #written = 0
  #waiting = 0

  constructor(reads: Statements, writes: Statements, threads: SqliteThreads) {
    this.#reads = reads
    this.#writes = writes
    this.#threads = threads
  }

  /**
   * Whether `empty` must follow the next commit, while nobody reads an earlier state. SQLite begins the log anew once all pages are
   * moved. While commits follow one another, the thread never moves the last ones, and the log would go on growing.
   */
  get isFull(): boolean {
    if (!CAN_BE_ASKED) return true
    // With as many pages as this, the thread is too slow, or does not get a turn.
    if (this.#written >= 2 * PAGES_IN_LOG) return this.#waiting > 0
    return this.#written >= PAGES_IN_LOG && this.#waiting > 0 && this.#waiting < PAGES / 2
  }

  /** Moves what the thread has left. If that fails, the pages stay in the log, and the next commit tries again. */
  empty(): void {
    // An older SQLite has moved them within the commit.
    if (!CAN_BE_ASKED) return
    try {
      this.#writes.all(MOVE, [])
    } catch {
      // Whether the commit is on the disk is found out by the flush that follows.
    }
  }

  /** To be called after each commit, while nothing is read. If moving fails, the next commit tries again. */
  committed(): void {
    if (CAN_BE_ASKED) this.#move().catch(() => {})
  }

  async #move(): Promise<void> {
    const [pages] = this.#reads.all('PRAGMA wal_checkpoint(NOOP)', [])
    this.#written = Number(pages!.log)
    this.#waiting = this.#written - Number(pages!.checkpointed)
    if (this.#isMoving || this.#waiting < PAGES) return
    this.#isMoving = true
    try {
      await this.#threads.read(CompiledQuery.raw(MOVE), undefined)
    } finally {
      this.#isMoving = false
    }
  }
}

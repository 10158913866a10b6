/**
 * Moves what was committed from the write-ahead log into the file: most of it on a thread, since all callers would wait for
 * as long, and the rest within a commit, so that the log begins anew.
 * See docs/decisions/shared-commits.md.
 */
import { CompiledQuery } from 'kysely'
import { CAN_BE_ASKED, PAGES_IN_LOG } from './connect.ts'
import type { Statements } from './statements.ts'
import type { SqliteThreads } from './threads.ts'

/** Half of those at which the log is emptied within a commit, so that few are left then. */
const PAGES = PAGES_IN_LOG / 2

const MOVE = 'PRAGMA wal_checkpoint(PASSIVE)'

export class Checkpoints {
  readonly #reads: Statements
  readonly #writes: Statements
  readonly #threads: SqliteThreads
  #isMoving = false
  /** How many pages the log had after the last commit, and how many of them were not moved. */
  #written = 0
  #waiting = 0

  constructor(reads: Statements, writes: Statements, threads: SqliteThreads) {
    this.#reads = reads
    this.#writes = writes
    this.#threads = threads
  }

  /**
   * Whether the next commit is to be followed by `empty`, with nobody reading an earlier state. SQLite begins the log anew
   * once all of it was moved; while commits follow one another, the thread never gets as far, and the log would grow.
   */
  get isFull(): boolean {
    if (!CAN_BE_ASKED) return true
    // By then the thread is too slow, or has no turn.
    if (this.#written >= 2 * PAGES_IN_LOG) return this.#waiting > 0
    return this.#written >= PAGES_IN_LOG && this.#waiting > 0 && this.#waiting < PAGES / 2
  }

  /** Moves what the thread has left. Where that fails, pages stay in the log, and the next commit tries again. */
  empty(): void {
    // An older SQLite has done so within the commit.
    if (!CAN_BE_ASKED) return
    try {
      this.#writes.all(MOVE, [])
    } catch {
      // The flush that follows tells whether what was committed is on the disk.
    }
  }

  /** To be called after each commit, while nothing is read. Where moving fails, the next commit tries again. */
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

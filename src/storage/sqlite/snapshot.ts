import type { Statements } from './statements.ts'

/**
 * The read transaction shared by requests that arrive together, because taking and releasing the locks of the file for each query
 * costs as much as the query. It ends before anything else that arrives is processed, and before a commit is answered. While a
 * commit is being flushed to the disk, it shows the state before the commit.
 * See docs/decisions/embedded-reads.md.
 */
export class Snapshot {
  readonly #reads: Statements
  readonly #writes: Statements
  #isOpen = false
  /** Set while requests of one turn arrive; the first has ended the previous read transaction. */
  #arriving = false
  /** The version that the open read transaction sees. */
  #version: number | undefined
  /** While the state is held: the version of what other processes had written at that time. */
  #heldAt: number | undefined

  constructor(reads: Statements, writes: Statements) {
    this.#reads = reads
    this.#writes = writes
  }

  /** To be called before each query. */
  begin(): void {
    if (this.#isOpen) return
    if (!this.#reads.isTransaction) this.#reads.run('BEGIN')
    this.#isOpen = true
    setImmediate(() => this.end())
  }

  /** Keeps the present state until `release`. To be called before a commit. */
  hold(): void {
    this.end()
    this.version()
    this.#heldAt = versionOn(this.#writes)
  }

  /** To be called when the commit is on the disk, or has failed. */
  release(): void {
    this.#heldAt = undefined
    this.end()
  }

  end(): void {
    if (!this.#isOpen || this.#heldAt !== undefined) return
    this.#isOpen = false
    this.#version = undefined
    // SQLite ends it by itself if the disk fails.
    if (!this.#reads.isTransaction) return
    try {
      this.#reads.run('COMMIT')
    } catch {
      // The file is damaged: those who read it get the error, and nobody waits for this statement.
    }
  }

  /**
   * To be called for each request. A read transaction may still be open that began after the requests of the last turn (after a
   * commit, or by a timer), and another process may have written since then.
   */
  refresh(): void {
    if (this.#arriving) return
    this.#arriving = true
    if (this.#heldAt !== undefined && versionOn(this.#writes) !== this.#heldAt) this.release()
    else this.end()
    setImmediate(() => {
      this.#arriving = false
    })
  }

  /** @returns a number that changes when another process has written */
  version(): number {
    this.begin()
    this.#version ??= versionOn(this.#reads)
    return this.#version
  }
}

/** @returns a number that changes when another connection has written */
const versionOn = (statements: Statements) =>
  Number(statements.all('PRAGMA data_version', [])[0]!.data_version)

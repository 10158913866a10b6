import type { Statements } from './statements.ts'

/**
 * The read transaction that requests share which arrived together, because taking and releasing file locks for each query
 * costs as much as a query. It ends before anything else that arrives is processed, and before a commit is answered. While
 * a commit is put on the disk, it stays at the state before.
 * See docs/decisions/embedded-reads.md.
 */
export class Snapshot {
  readonly #reads: Statements
  readonly #writes: Statements
  #isOpen = false
  /** Set while requests of one turn arrive; the first has ended the previous read transaction. */
  #arriving = false
  /** Version of the state that the open read transaction sees. */
  #version: number | undefined
  /** While it is held: version of what other processes had written then. */
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

  /** Keeps the state of now until `release`. To be called before a commit. */
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
      // Of a damaged file: whoever reads it is told, and nobody waits for this.
    }
  }

  /**
   * To be called for each request: a read transaction begun later than the requests of a turn (after a commit, or by a
   * timer) stays open while the next ones arrive, and another process may have written since.
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

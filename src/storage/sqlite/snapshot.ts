import type { Statements } from './statements.ts'

/**
 * The read transaction that requests share which arrived together, because taking and releasing file locks for each query
 * costs as much as a query. It ends before anything else that arrives is processed, and before a commit is answered.
 * See docs/decisions/embedded-reads.md.
 */
export class Snapshot {
  readonly #reads: Statements
  #isOpen = false
  /** Set while requests of one turn arrive; the first has ended the previous read transaction. */
  #arriving = false
  /** Version of the state that the open read transaction sees. */
  #version: number | undefined

  constructor(reads: Statements) {
    this.#reads = reads
  }

  /** To be called before each query. */
  begin(): void {
    if (this.#isOpen) return
    this.#reads.run('BEGIN')
    this.#isOpen = true
    setImmediate(() => this.end())
  }

  end(): void {
    if (!this.#isOpen) return
    this.#isOpen = false
    this.#version = undefined
    // SQLite ends it by itself if the disk fails.
    if (this.#reads.isTransaction) this.#reads.run('COMMIT')
  }

  /**
   * To be called for each request: a read transaction begun later than the requests of a turn (after a commit, or by a
   * timer) stays open while the next ones arrive, and another process may have written since.
   */
  refresh(): void {
    if (this.#arriving) return
    this.#arriving = true
    this.end()
    setImmediate(() => {
      this.#arriving = false
    })
  }

  /** @returns a number that changes when another process has written */
  version(): number {
    this.begin()
    this.#version ??= Number(this.#reads.all('PRAGMA data_version', [])[0]!.data_version)
    return this.#version
  }
}

/** Why nothing may be read or written any more: the files are gone, or nobody knows what is committed. */
import { DatabaseUnavailable } from '../database.ts'
import { doubted, inDoubt, isInDoubt } from './errors.ts'
import type { Absence } from './files.ts'

/** Lets reads be refused, too, soon after the file was removed. */
const FILES_LOOKED_AT_EVERY_MS = 500

export class Refusal {
  /** Resolves when it is not known what is committed. */
  readonly failed: Promise<DatabaseUnavailable>
  readonly #fail: (reason: DatabaseUnavailable) => void
  readonly #absence: Absence
  readonly #watch: NodeJS.Timeout
  #reason: DatabaseUnavailable | undefined

  constructor(absence: Absence) {
    const failed = Promise.withResolvers<DatabaseUnavailable>()
    this.failed = failed.promise
    this.#fail = failed.resolve
    this.#absence = absence
    this.#watch = setInterval(() => this.lookForFiles(), FILES_LOOKED_AT_EVERY_MS).unref()
  }

  /** @throws DatabaseUnavailable if nothing may be read or written */
  check(): void {
    if (this.#reason) throw this.#reason
  }

  /** The same after a commit, looking for the files again: they may have been missing when it was made. */
  checkCommitted(): void {
    this.lookForFiles()
    if (this.#reason) throw doubted(this.#reason)
  }

  /** A file that was moved away may come back. */
  lookForFiles(): void {
    if (this.#reason && this.#reason.reason !== 'removed') return
    this.#reason = this.#absence()
  }

  /**
   * Refuses further reads if the commit may have been made or not: they would contradict what the next start may find.
   * @returns what those who wait for the commit are told
   */
  afterFailed(cause: unknown): unknown {
    if (!isInDoubt(cause)) return cause
    const failure = inDoubt(cause)
    this.#reason = new DatabaseUnavailable('SQLite: refused, because an earlier change is in doubt', failure)
    this.#fail(failure)
    return failure
  }

  /** @returns whether anything is refused at the end */
  end(): boolean {
    clearInterval(this.#watch)
    return (this.#reason ?? this.#absence()) !== undefined
  }
}

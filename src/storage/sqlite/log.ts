/** Puts what was committed on the disk, on a thread of the system: the one that answers does not wait for the disk. */
import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { codeOf } from '../../base/unknown.ts'
import { SQLITE_IOERR_FSYNC } from './errors.ts'
import { logOf } from './files.ts'

const flush = promisify(fdatasync)

/** What was committed may be on the disk all the same. */
const failed = (cause: unknown) =>
  Object.assign(new Error(`disk I/O error (${codeOf(cause)})`, { cause }), { errcode: SQLITE_IOERR_FSYNC })

export class Log {
  readonly #descriptor: number

  /** @param file of a database that is open, so that its write-ahead log exists */
  constructor(file: string) {
    this.#descriptor = openSync(logOf(file), 'r+')
  }

  /** @throws Error as SQLite does when a flush fails */
  async flush(): Promise<void> {
    try {
      await flush(this.#descriptor)
    } catch (error) {
      throw failed(error)
    }
  }

  /** The same while everybody waits. */
  flushAtOnce(): void {
    try {
      fdatasyncSync(this.#descriptor)
    } catch (error) {
      throw failed(error)
    }
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

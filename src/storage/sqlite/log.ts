/** Flushes the write-ahead log to the disk on another thread, so that the one that answers requests does not wait for it. */
import { closeSync, fdatasync, fdatasyncSync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { codeOf } from '../../base/unknown.ts'
import { SQLITE_IOERR_FSYNC } from './errors.ts'
import { logOf } from './files.ts'

const flush = promisify(fdatasync)

/** Like SQLite's own error: the commit may be on the disk in spite of it. */
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

  /** The same, but blocks the process. */
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

/** Puts what was committed on the disk, on a thread of the system: the one that answers does not wait for the disk. */
import { closeSync, fdatasync, openSync } from 'node:fs'
import { promisify } from 'node:util'
import { codeOf } from '../../base/unknown.ts'
import { logOf } from './files.ts'

const flush = promisify(fdatasync)

export class Log {
  readonly #descriptor: number

  /** @param file of a database that is open, so that its write-ahead log exists */
  constructor(file: string) {
    this.#descriptor = openSync(logOf(file), 'r+')
  }

  /** @throws Error when the disk fails; what was committed may be on it all the same */
  async flush(): Promise<void> {
    try {
      await flush(this.#descriptor)
    } catch (error) {
      throw new Error(`disk I/O error (${codeOf(error)})`, { cause: error })
    }
  }

  close(): void {
    closeSync(this.#descriptor)
  }
}

/** Where the heads of the audit log go: a file that is only added to, or a URL. */
import { type FileHandle, open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { unescape as decoded } from 'node:querystring'
import { flush } from '../../base/files.ts'
import { type Head, headIn, isBrokenOff, lineOf } from './anchor-line.ts'

export interface Place {
  /** The name for messages. A URL may have a secret in its path, so it is left out. */
  readonly name: string
  /** Whether an empty place gets every head, instead of only the last one. */
  readonly wantsAll: boolean
  /** The last head that is there, as far as this process can tell. */
  last(): Promise<Head | undefined>
  /** Resolves once the heads are stored durably. */
  add(heads: readonly Head[], signal: AbortSignal): Promise<void>
}

export const isUrl = (text: string): boolean => /^[a-z][a-z\d+.-]*:\/\//i.test(text)

export function placeOf(target: string): Place {
  return isUrl(target) ? new UrlPlace(target) : new FilePlace(target)
}

/** Longer than several lines; shows how the last write ended. */
const TAIL_BYTES = 4096

/** Opened for each write, since it may be rotated while the service runs. */
class FilePlace implements Place {
  readonly name: string
  readonly wantsAll = true

  constructor(path: string) {
    this.name = path
  }

  async last(): Promise<Head | undefined> {
    await using file = await this.#open()
    return (await this.#tailOf(file)).head
  }

  async add(heads: readonly Head[]): Promise<void> {
    await using file = await this.#open()
    const { head, broken } = await this.#tailOf(file)
    // A line that was broken off is written again, since a file that is append-only cannot be corrected.
    await file.appendFile(`${broken ? '\n' : ''}${heads.map(lineOf).join('')}`)
    await file.sync()
    if (!head) await flush(dirname(this.name))
  }

  async #open(): Promise<FileHandle> {
    const file = await open(this.name, 'a+', 0o600)
    if ((await file.stat()).isFile()) return file
    await file.close()
    throw new Error('not a file')
  }

  async #tailOf(file: FileHandle): Promise<{ head: Head | undefined; broken: boolean }> {
    const { size } = await file.stat()
    const start = Math.max(0, size - TAIL_BYTES)
    const { buffer, bytesRead } = await file.read(Buffer.alloc(size - start), 0, size - start, start)
    const lines = buffer.toString('utf8', 0, bytesRead).split('\n')
    const lastLine = lines.pop()!
    const head = lines.map(headIn).findLast(head => head !== undefined)
    if (!head && !isBrokenOff(lines.at(-1) || lastLine)) {
      throw new Error('it holds something else than heads of the audit log: choose another path')
    }
    return { head, broken: lastLine !== '' }
  }
}

const ANSWER_WITHIN_MS = 10_000

/** A URL cannot be read, so only this process's deliveries are known. The chain's last head covers all before it. */
class UrlPlace implements Place {
  readonly name: string
  readonly wantsAll = false
  readonly #url: URL
  readonly #headers: Record<string, string> = { 'content-type': 'application/x-ndjson' }
  #last: Head | undefined

  constructor(url: string) {
    this.#url = new URL(url)
    this.name = this.#url.origin
    const { username, password } = this.#url
    if (username === '' && password === '') return
    const credentials = `${decoded(username)}:${decoded(password)}`
    this.#headers.authorization = `Basic ${Buffer.from(credentials).toString('base64')}`
    // `fetch` refuses a URL with credentials.
    this.#url.username = ''
    this.#url.password = ''
  }

  async last(): Promise<Head | undefined> {
    return this.#last
  }

  async add(heads: readonly Head[], signal: AbortSignal): Promise<void> {
    const response = await fetch(this.#url, {
      method: 'POST',
      headers: this.#headers,
      body: heads.map(lineOf).join(''),
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_WITHIN_MS)]),
    })
    await response.body?.cancel()
    if (!response.ok) throw new Error(`it answered ${response.status}`)
    this.#last = heads.at(-1)
  }
}

/** Files that commands read and write. */
import { createReadStream, existsSync, realpathSync, renameSync, rmSync, statSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname, resolve } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { flush, naming, partialOf, placeNew, removedAfter } from '../base/files.ts'
import { CommandFailed } from './command.ts'

/** What a file is filled with. */
export interface Content {
  readonly text: AsyncIterable<string>
}

/**
 * Writes a file, which has its name only when it is whole and on the disk. Only its owner can read it.
 * @param begin is called when there is a place to write to
 * @param replace whether an existing file is replaced; a device or a pipe is written to as it is
 * @throws CommandFailed if there is no such folder, or an existing file may not be replaced
 */
export async function writeWhole<T extends Content>(
  path: string,
  begin: () => Promise<T>,
  { replace }: { replace: boolean },
): Promise<T> {
  const status = existsSync(path) ? statSync(path) : undefined
  if (status && !replace) throw isTaken(path)
  if (status && !status.isFile()) return fill(path, 'w', begin)
  // A link is followed: what it leads to is replaced, and not the link.
  const target = status ? realpathSync(path) : resolve(path)
  // With the slash, only a folder exists.
  if (!existsSync(`${dirname(target)}/`)) throw new CommandFailed(`There is no folder ${dirname(target)}.`)
  const partial = partialOf(target)
  return removedAfter(
    () => rmSync(partial, { force: true }),
    async () => {
      const content = await fill(partial, 'wx', begin)
      await flush(partial)
      if (replace) renameSync(partial, target)
      else if (!placeNew(partial, target)) throw isTaken(path)
      await flush(dirname(target))
      return content
    },
  )
}

async function fill<T extends Content>(path: string, flags: string, begin: () => Promise<T>): Promise<T> {
  const target = await open(path, flags, 0o600)
  try {
    const content = await begin()
    await pipeline(content.text, target.createWriteStream())
    return content
  } finally {
    await target.close()
  }
}

const isTaken = (path: string) => new CommandFailed(`${path} is there already: name another file.`)

/** Reads a file. An error names it. */
export async function* piecesOf(path: string): AsyncGenerator<Buffer> {
  try {
    yield* createReadStream(path)
  } catch (error) {
    throw naming(path, error)
  }
}

/**
 * Reads what may be a pipe, whose length nobody knows, or never end.
 * @returns its bytes; no more than one beyond `most` when there are more
 */
export async function readUpTo(source: AsyncIterable<Buffer | string>, most: number): Promise<Buffer> {
  const chunks: Buffer[] = []
  let length = 0
  for await (const chunk of source) {
    const bytes = Buffer.from(chunk)
    chunks.push(bytes)
    length += bytes.length
    if (length > most) break
  }
  return Buffer.concat(chunks).subarray(0, most + 1)
}

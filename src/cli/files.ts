/** Files that commands write. */
import { lstatSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { dirname } from 'node:path'
import { pipeline } from 'node:stream/promises'
import { flush, placeNew, removedAfter } from '../base/files.ts'
import { codeOf } from '../base/unknown.ts'
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
  const existing = lstatSync(path, { throwIfNoEntry: false })
  if (existing && !replace) throw isTaken(path)
  const isReplaced = !existing || existing.isFile()
  if (!isReplaced) return fill(path, 'w', begin)
  const partial = `${path}.${process.pid}.partial`
  return removedAfter(
    () => rmSync(partial, { force: true }),
    async () => {
      const content = await fill(partial, 'wx', begin)
      await flush(partial)
      if (replace) renameSync(partial, path)
      else if (!placeNew(partial, path)) throw isTaken(path)
      await flush(dirname(path))
      return content
    },
  )
}

async function fill<T extends Content>(path: string, flags: string, begin: () => Promise<T>): Promise<T> {
  const target = await open(path, flags, 0o600).catch(cause => {
    if (codeOf(cause) !== 'ENOENT') throw cause
    throw new CommandFailed(`There is no folder ${dirname(path)}.`)
  })
  try {
    const content = await begin()
    await pipeline(content.text, target.createWriteStream())
    return content
  } finally {
    await target.close()
  }
}

const isTaken = (path: string) => new CommandFailed(`${path} is there already: name another file.`)

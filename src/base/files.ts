/** Files that exist in full or not at all, even after a power failure. */
import { linkSync, renameSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { codeOf } from './unknown.ts'

/** How file systems without hard links, such as FAT, refuse to make one. */
const KNOWS_NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP']

/**
 * Puts a finished file in place, unless the name is taken. With hard links, its old name stays as well.
 * @returns whether it has the name
 */
export function placeNew(file: string, name: string): boolean {
  try {
    linkSync(file, name)
  } catch (error) {
    const code = codeOf(error)
    if (code === 'EEXIST') return false
    if (!KNOWS_NO_LINKS.includes(code)) throw error
    renameSync(file, name)
  }
  return true
}

/** Writes to disk what the operating system still buffers: the content of a file, or the entries of a folder. */
export async function flush(path: string): Promise<void> {
  await using handle = await open(path, 'r')
  await handle.sync()
}

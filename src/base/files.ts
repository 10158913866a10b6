/** Files that are there for good, or not at all. */
import { linkSync, renameSync } from 'node:fs'
import { open } from 'node:fs/promises'

/** Some file systems, as on memory sticks, answer so. */
const KNOWS_NO_LINKS: readonly (string | undefined)[] = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP']

/**
 * Gives a file its name, unless there is one of this name by now. Where links are known, the file keeps the name that it had as well.
 * @returns whether it has the name
 */
export function placeNew(file: string, name: string): boolean {
  try {
    linkSync(file, name)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return false
    if (!KNOWS_NO_LINKS.includes(code)) throw error
    renameSync(file, name)
  }
  return true
}

/** What was written to a file is there when the power fails; of a folder, which files it has. */
export async function flush(path: string): Promise<void> {
  await using handle = await open(path, 'r')
  await handle.sync()
}

/**
 * The tests of several files in one process: to begin one, and to start its first services, takes as long as the tests of
 * many a file. Each file passes alone as well.
 */
import { glob } from 'node:fs/promises'

const root = new URL('..', import.meta.url)

/** @param folders patterns of folders of src */
export async function together(...folders: readonly string[]): Promise<void> {
  const patterns = folders.map(folder => `src/${folder}/**/*.test.ts`)
  for await (const path of glob(patterns, { cwd: root })) await import(new URL(path, root).href)
}

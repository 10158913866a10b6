/**
 * The tests of several files in one process: to begin one, and to start its first services, takes as long as the tests of
 * many a file. Each file passes alone as well.
 */
import { glob } from 'node:fs/promises'
import { test } from 'node:test'

const root = new URL('..', import.meta.url)

/** @param folders patterns of folders */
export async function together(...folders: readonly string[]): Promise<void> {
  // A process that ends in the middle would pass, without the tests that it has not come to.
  let areDone = false
  process.once('exit', () => {
    if (!areDone) process.exitCode = 1
  })
  const patterns = folders.map(folder => `${folder}/**/*.test.ts`)
  for await (const path of glob(patterns, { cwd: root })) await import(new URL(path, root).href)
  test(`all tests of ${folders.join(' and ')} have run`, () => {
    areDone = true
  })
}

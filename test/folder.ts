import { statfsSync } from 'node:fs'
import { chmod, mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const IN_MEMORY = '/dev/shm'
const NEEDED_BYTES = 4 * 2 ** 30

/** In memory where there is room: what tests write need not outlive a loss of power, and a busy disk holds up every commit. */
const base = hasRoom() ? IN_MEMORY : tmpdir()

function hasRoom(): boolean {
  try {
    const { bavail, bsize } = statfsSync(IN_MEMORY)
    return bavail * bsize >= NEEDED_BYTES
  } catch {
    return false
  }
}

export async function temporaryFolder(): Promise<{ path: string; remove: () => Promise<void> }> {
  const path = await mkdtemp(join(base, 'affiliated-'))
  // Another account may have to go through it: PostgreSQL does not run as root.
  await chmod(path, 0o711)
  return { path, remove: () => rm(path, { recursive: true, force: true }) }
}

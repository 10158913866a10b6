/** Atomic and durable file creation: a file exists completely or not at all, even after a power failure. */
import { linkSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { codeOf } from './unknown.ts'

/** Error codes of link() on file systems without hard links, such as FAT. */
const KNOWS_NO_LINKS = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP']
const ENDING_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

/**
 * Moves a finished file into place, unless the name is taken. Where hard links exist, the old name stays as well.
 * @returns false if the name was taken
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

/** Partial files that this process writes. */
const own = new Set<string>()

/**
 * Names a partial file of `target`, beside it. What a process of this machine has left that was killed is removed first,
 * and never what one writes that is alive.
 */
export function partialOf(target: string): string {
  const beginning = `${basename(target)}.${hostname()}.`
  for (const name of readdirSync(dirname(target))) {
    if (!name.startsWith(beginning)) continue
    const [, pid] = /^(\d+)\.partial(?:-(?:wal|shm|journal))?$/.exec(name.slice(beginning.length)) ?? []
    const path = join(dirname(target), name)
    if (pid !== undefined && !isWritten(path, Number(pid))) rmSync(path, { force: true })
  }
  const partial = join(dirname(target), `${beginning}${process.pid}.partial`)
  own.add(partial)
  return partial
}

/** A process of before a restart may have had the number of this one. */
const isWritten = (path: string, pid: number) =>
  pid === process.pid ? own.has(path.replace(/-\w+$/, '')) : isAlive(pid)

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return codeOf(error) !== 'ESRCH'
  }
}

/** fsync of a file, or of a folder's entries. */
export async function flush(path: string): Promise<void> {
  await using handle = await open(path, 'r')
  await handle.sync()
}

/**
 * Removes a partial file when the work is over, also when a signal ends the process.
 * @param remove does nothing where there is no such file
 */
export async function removedAfter<T>(remove: () => void, work: () => Promise<T>): Promise<T> {
  const leave = () => {
    remove()
    process.exit(1)
  }
  for (const signal of ENDING_SIGNALS) process.on(signal, leave)
  try {
    return await work()
  } finally {
    for (const signal of ENDING_SIGNALS) process.off(signal, leave)
    remove()
  }
}

/** The system names no folder that is read as a file. */
export function naming(path: string, error: unknown): unknown {
  return error instanceof Error && 'syscall' in error ? Object.assign(error, { path }) : error
}

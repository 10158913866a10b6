/** Compares heads that left the machine with the seals of the log. */
import { open } from 'node:fs/promises'
import { CommandFailed } from '../../cli/command.ts'
import { sealsNumbered } from '../../events/store.ts'
import type { Db } from '../../storage/database.ts'
import { type Head, headIn, headOf, isBrokenOff } from './anchor-line.ts'

const HEADS_AT_ONCE = 500

export interface Comparison {
  /** How many heads were compared. */
  readonly heads: number
  /** The first line that the log does not agree with. */
  readonly problem?: string
}

type Line = { readonly line: number; readonly head: Head }

/** @throws CommandFailed when the file can't be read, or holds something else */
export async function compareAnchor(db: Db, path: string): Promise<Comparison> {
  let heads = 0
  let some: Line[] = []
  for await (const line of linesOf(path)) {
    some.push(line)
    if (some.length < HEADS_AT_ONCE) continue
    const problem = await differing(db, path, some)
    if (problem !== undefined) return { heads, problem }
    heads += some.length
    some = []
  }
  const problem = await differing(db, path, some)
  return problem === undefined ? { heads: heads + some.length } : { heads, problem }
}

async function differing(db: Db, path: string, lines: readonly Line[]): Promise<string | undefined> {
  const numbers = lines.map(({ head }) => head.number)
  const seals = new Map((await sealsNumbered(db, numbers)).map(seal => [seal.number, headOf(seal)]))
  for (const { line, head } of lines) {
    const sealed = seals.get(head.number)
    const where = `Line ${line} of ${path}`
    if (!sealed) return `${where}: seal ${head.number} is missing from the log.`
    if (sealed.hash !== head.hash)
      return `${where}: seal ${head.number} has the hash ${head.hash}, and in the log ${sealed.hash}.`
    if (sealed.sealed_at !== head.sealed_at)
      return `${where}: seal ${head.number} was made at ${head.sealed_at}, and in the log at ${sealed.sealed_at}.`
  }
  return undefined
}

/** Leaves out what was broken off while it was written: the same line follows, whole, unless it is the last. */
async function* linesOf(path: string): AsyncGenerator<Line> {
  let line = 0
  let broken: string | undefined
  for await (const text of rawLines(path)) {
    line += 1
    if (broken !== undefined && !text.startsWith(broken)) throw unreadable(path, line - 1)
    broken = undefined
    if (text.trim() === '') continue
    const head = headIn(text)
    if (head) yield { line, head }
    else if (isBrokenOff(text)) broken = text
    else throw unreadable(path, line)
  }
}

async function* rawLines(path: string): AsyncGenerator<string> {
  try {
    await using file = await open(path)
    for await (const line of file.readLines({ autoClose: false })) yield line
  } catch (error) {
    if (error instanceof Error && 'syscall' in error)
      throw new CommandFailed(`The anchor can't be read: ${error.message}`)
    throw error
  }
}

function unreadable(path: string, line: number): CommandFailed {
  return new CommandFailed(
    `Line ${line} of ${path} is not a head of the audit log, such as {"number":7,"hash":"…","sealed_at":"…"}.`,
  )
}

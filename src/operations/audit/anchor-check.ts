/** Compares an anchor (heads that were written outside the database) with the seals of the log. */
import { open } from 'node:fs/promises'
import { naming } from '../../base/files.ts'
import { CommandFailed } from '../../cli/command.ts'
import { sealsNumbered } from '../../events/store.ts'
import type { Db } from '../../storage/database.ts'
import { type Head, headIn, headOf, isBrokenOff } from './anchor-line.ts'

const HEADS_AT_ONCE = 500

export interface Comparison {
  /** How many heads were compared. */
  readonly heads: number
  /** The first line that contradicts the log. */
  readonly problem?: string
}

type Line = { readonly line: number; readonly head: Head }

/** @throws CommandFailed when the file cannot be read, or is not an anchor */
export async function compareAnchor(db: Db, path: string): Promise<Comparison> {
  let heads = 0
  let batch: Line[] = []
  for await (const line of linesOf(path)) {
    batch.push(line)
    if (batch.length < HEADS_AT_ONCE) continue
    const problem = await differing(db, path, batch)
    if (problem !== undefined) return { heads, problem }
    heads += batch.length
    batch = []
  }
  const problem = await differing(db, path, batch)
  return problem === undefined ? { heads: heads + batch.length } : { heads, problem }
}

async function differing(db: Db, path: string, lines: readonly Line[]): Promise<string | undefined> {
  const numbers = lines.map(({ head }) => head.number)
  const seals = new Map((await sealsNumbered(db, numbers)).map(seal => [seal.number, headOf(seal)]))
  for (const { line, head } of lines) {
    const seal = seals.get(head.number)
    const place = `Line ${line} of ${path}`
    if (!seal) return `${place}: seal ${head.number} is missing from the log.`
    if (seal.hash !== head.hash)
      return `${place}: seal ${head.number} has the hash ${head.hash}, and in the log ${seal.hash}.`
    if (seal.sealed_at !== head.sealed_at)
      return `${place}: seal ${head.number} was made at ${head.sealed_at}, and in the log at ${seal.sealed_at}.`
  }
  return undefined
}

/** Skips a line whose writing was broken off: the next line repeats it in full. */
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
    throw naming(path, error)
  }
}

function unreadable(path: string, line: number): CommandFailed {
  return new CommandFailed(
    `Line ${line} of ${path} is not a head of the audit log, such as {"number":7,"hash":"…","sealed_at":"…"}.`,
  )
}

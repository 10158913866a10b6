/**
 * One request that does the same many times, a line each. Lines are taken some at a time, each part in one transaction, so
 * that nobody waits long for them; between parts other requests are answered, and what comes of a part is sent before the
 * next one begins.
 *
 * Where one line of a part can't be done, the part is done anew with each line by itself. Under an Idempotency-Key a part
 * stores its answer in its own transaction: the same request again is answered by what is stored, and does the rest.
 * See docs/decisions/lines.md.
 */
import { setImmediate } from 'node:timers/promises'
import { entryOf, Failure, isOfCaller } from '../base/errors.ts'
import { type Database, DatabaseUnavailable } from '../storage/database.ts'
import type { HttpCall } from './call.ts'
import type { LineResult, Lines } from './endpoint.ts'
import { type NamedWrite, type Part, partOnce } from './idempotency.ts'
import { failureOf } from './problems.ts'

export const MOST_LINES = 10_000
/** Lines of a part: as many as are done within the time, so that others need not wait longer for their turn to write. */
const [FEWEST, FIRST, MOST] = [5, 100, 250]
const PART_MS = 50

/** Failures after which the answer of no other line could be stored. */
const unstored: readonly string[] = ['idempotency_mismatch', 'too_many_answers']

interface Line {
  /** As its sender counts it, from 1. */
  readonly number: number
  readonly text: string
}

interface Performing {
  readonly call: HttpCall
  readonly database: Database
  readonly lines: Lines
  /** Where the caller has named the request. */
  readonly named: NamedWrite | undefined
  /** Is given what is not the caller's fault. */
  readonly report: (error: unknown) => void
}

/** Lines that are not empty. */
export function* numbered(texts: readonly string[]): Generator<Line> {
  for (const [place, text] of texts.entries()) {
    if (text.trim() !== '') yield { number: place + 1, text }
  }
}

/**
 * Does the first part, and the others as they are asked for.
 * @returns whether the first part was done before, and the results
 * @throws Failure what keeps the first part from being done
 */
export async function performLines(
  texts: readonly string[],
  performing: Performing,
): Promise<{ replayed: boolean; results: AsyncGenerator<string> }> {
  const lines = [...numbered(texts)]
  const first = await performPart(lines.slice(0, FIRST), 0, performing)
  return { replayed: first.replayed, results: resultsOf(lines, first, performing) }
}

async function* resultsOf(
  allLines: readonly Line[],
  first: PerformedPart,
  performing: Performing,
): AsyncGenerator<string> {
  yield first.text
  let part = first
  for (let [number, start] = [1, part.lines]; start < allLines.length; number += 1, start += part.lines) {
    await setImmediate()
    const wanted = part.replayed ? MOST : Math.round((part.lines * PART_MS) / part.tookMs)
    const lines = allLines.slice(start, start + Math.min(Math.max(wanted, FEWEST), MOST))
    try {
      part = await performPart(lines, number, performing)
    } catch (error) {
      // What was done stays done, and was answered: the rest is answered as well, by why it was not done.
      yield* unanswered(allLines.slice(start), error, performing)
      return
    }
    yield part.text
  }
}

function* unanswered(lines: readonly Line[], error: unknown, { report }: Performing): Generator<string> {
  const failure = failureOf(error)
  if (entryOf(failure.failure).status >= 500) report(error)
  for (let start = 0; start < lines.length; start += MOST) {
    const part = lines.slice(start, start + MOST)
    yield textOf(
      part,
      part.map(() => failure),
    )
  }
}

interface PerformedPart extends Part {
  /** How many; of a part that was done before, as many as then. */
  readonly lines: number
  readonly tookMs: number
}

async function performPart(
  lines: readonly Line[],
  number: number,
  performing: Performing,
): Promise<PerformedPart> {
  const { call, database, lines: endpoint, named } = performing
  const texts = lines.map(({ text }) => text)
  let tookMs = 0
  const attempt = (careful: boolean) =>
    database.transaction(async tx => {
      const beganAt = performance.now()
      const work = async () => textOf(lines, await endpoint.perform(call.within(tx), texts, careful))
      const part = named ? await partOnce(tx, named, number, work) : { text: await work(), replayed: false }
      tookMs = performance.now() - beganAt
      return part
    })
  const part = await attempt(false).catch(error => {
    if (!isOfOneLine(error)) throw error
    return attempt(true)
  })
  return { ...part, tookMs, lines: part.replayed ? part.text.split('\n').length - 1 : lines.length }
}

/** Whether it may be that the other lines can be done. */
function isOfOneLine(error: unknown): boolean {
  if (error instanceof Failure) return !isOfCaller(error) && !unstored.includes(error.failure)
  return !(error instanceof DatabaseUnavailable)
}

function textOf(lines: readonly Line[], results: readonly LineResult[]): string {
  let text = ''
  for (const [place, { number }] of lines.entries()) {
    const result = results[place]!
    text +=
      result instanceof Failure
        ? refusalLine(number, result)
        : `{"line":${number},"status":${result.status},${result.members}}\n`
  }
  return text
}

function refusalLine(line: number, { failure, message, data }: Failure): string {
  const { status, code } = entryOf(failure)
  return `${JSON.stringify({ line, status, code, message, data: { status, ...data } })}\n`
}

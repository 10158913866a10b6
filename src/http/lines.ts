/**
 * Batch requests: the same operation many times, one line each. Lines are processed in parts, each in one transaction, so
 * that nobody waits long for it; other requests are answered between parts, and the results of a part are sent before the
 * next one begins.
 *
 * If a line fails, its part is repeated with each line isolated, so that not even a defect fails more than its own line.
 * Under an Idempotency-Key, each part stores its answer in its own transaction: a retry gets the stored answers, and then
 * processes the rest.
 * See docs/decisions/lines.md.
 */
import { setImmediate } from 'node:timers/promises'
import { entryOf, Failure, isOfCaller } from '../base/errors.ts'
import { type Database, DatabaseUnavailable, type Tx } from '../storage/database.ts'
import type { HttpCall } from './call.ts'
import type { LineResult, Lines, Shared } from './endpoint.ts'
import { eraseAnswers, type NamedWrite, type Part, partOnce } from './idempotency.ts'
import { failureOf, faultOf } from './problems.ts'

export const MOST_LINES = 10_000
/** Lines of a part: as many as are done within the time, so that others need not wait longer for their turn to write. */
const [FEWEST, FIRST, MOST] = [5, 100, 250]
const PART_MS = 50

/** Failures after which no other line's answer could be stored. */
const unstored: readonly string[] = ['idempotency_mismatch', 'too_many_answers']

interface Line {
  /** Counted from 1, as the sender counts. */
  readonly number: number
  readonly text: string
}

interface Performing {
  readonly call: HttpCall
  readonly database: Database
  readonly lines: Lines
  /** Of the request. */
  readonly shared?: Shared | undefined
  /** Present if the request has an Idempotency-Key. */
  readonly named: NamedWrite | undefined
  /** Called with errors that are not the caller's fault. */
  readonly report: (error: unknown) => void
}

/** The lines that are not empty, numbered. */
export function* numbered(texts: readonly string[]): Generator<Line> {
  for (const [place, text] of texts.entries()) {
    if (text.trim() !== '') yield { number: place + 1, text }
  }
}

/**
 * Processes the first part at once, the others as they are consumed.
 * @returns the results, and whether the first part had been done before
 * @throws Failure if the first part cannot be processed
 */
export async function performLines(
  texts: readonly string[],
  request: Omit<Performing, 'shared'>,
): Promise<{ replayed: boolean; results: AsyncGenerator<string> }> {
  const lines = [...numbered(texts)]
  const performing = { ...request, shared: request.lines.share?.() }
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
      // Completed parts stay committed and answered; each remaining line is answered with the failure.
      yield* unanswered(allLines.slice(start), error, performing)
      return
    }
    yield part.text
  }
}

function* unanswered(lines: readonly Line[], error: unknown, { report }: Performing): Generator<string> {
  const failure = failureOf(error)
  reportDefect(failure, report)
  for (let start = 0; start < lines.length; start += MOST) {
    const part = lines.slice(start, start + MOST)
    yield textOf(
      part,
      part.map(() => failure),
    )
  }
}

function reportDefect(failure: Failure, report: Performing['report']): void {
  const fault = faultOf(failure)
  if (fault !== undefined) report(fault)
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
  const { call, database, lines: endpoint, shared, named, report } = performing
  let tookMs = 0
  let results: readonly LineResult[] = []
  const attempt = (careful: boolean) => {
    const work = async (tx: Tx) => {
      const beganAt = performance.now()
      shared?.begin()
      const perform = async (some: readonly Line[]) => {
        const texts = some.map(({ text }) => text)
        results = await endpoint.perform(call.within(tx), texts, careful, shared)
        return textOf(some, results)
      }
      const whole = () => perform(lines)
      const again = (stored: string) => mended(stored, lines, perform)
      const part = named
        ? await partOnce(tx, named, number, { whole, again })
        : { text: await whole(), replayed: false }
      tookMs = performance.now() - beganAt
      return part
    }
    return database.transaction(work, 'many')
  }
  const part = await attempt(false).catch(error => {
    if (!isOfOneLine(error)) throw error
    return attempt(true)
  })
  shared?.committed()
  for (const result of results) if (result instanceof Failure) reportDefect(result, report)
  return { ...part, tookMs, lines: part.replayed ? part.text.split('\n').length - 1 : lines.length }
}

/** Begins the result of a line that has failed unexpectedly. */
const UNEXPECTED = /^\{"line":\d+,"status":5/

/** Stored results, of which those that nobody expected are replaced; undefined where there are none. */
async function mended(
  stored: string,
  lines: readonly Line[],
  perform: (some: readonly Line[]) => Promise<string>,
): Promise<string | undefined> {
  const results = stored.split('\n')
  const places = [...results.keys()].filter(place => UNEXPECTED.test(results[place]!))
  if (places.length === 0) return undefined
  const again = (await perform(places.map(place => lines[place]!))).split('\n')
  for (const [index, place] of places.entries()) results[place] = again[index]!
  return results.join('\n')
}

/** Whether the other lines may still succeed. */
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

const LINE = /^\{"line":(\d+),/

/**
 * Erases the stored answers, and of answers to many lines those lines, that contain one of these texts.
 * @param texts such as a person's identifier as an answer has it
 */
export async function eraseStored(tx: Tx, texts: readonly string[]): Promise<void> {
  const redacted = (line: string) => {
    const number = LINE.exec(line)?.[1]
    const isAbout = number !== undefined && texts.some(text => line.includes(text))
    return isAbout ? refusalLine(Number(number), new Failure('answer_erased')).trimEnd() : line
  }
  await eraseAnswers(tx, texts, part => part.split('\n').map(redacted).join('\n'))
}

function refusalLine(line: number, { failure, message, data }: Failure): string {
  const { status, code } = entryOf(failure)
  return `${JSON.stringify({ line, status, code, message, data: { status, ...data } })}\n`
}

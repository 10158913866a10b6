/** JSON beyond `JSON.parse` and `JSON.stringify`: numbers with all their digits, what may be stored, and long lists. */
import { randomUUID } from 'node:crypto'
import { isPlain } from './text.ts'
import { hasMembers, isObject } from './unknown.ts'

/** A number as it was written. `JSON.stringify` writes it so again. */
interface RawNumber {
  readonly rawJSON: string
}

declare global {
  // ECMAScript 2026; missing from TypeScript's declarations.
  interface JSON {
    rawJSON(text: string): RawNumber
    isRawJSON(value: unknown): value is RawNumber
  }
}

/** Whether there may be a number that a double cannot hold: it holds each of fewer than 16 digits. */
const HAS_LONG_NUMBER = /\d(?<![\d.]\d)[\d.]{15}/
/** The beginning of a text, or a long number; not the digits of an exponent. */
const TEXT_OR_LONG_NUMBER = /"|(?<![\d.eE+-])-?(?=[\d.]{16})(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?/g
const [QUOTE, BACKSLASH] = Buffer.from('"\\')

/**
 * Parses JSON. A number that would lose digits becomes a RawNumber, so that the number of an order is never another one.
 * Not by a reviver of `JSON.parse`, which takes a second for a body of a MiB that is nothing but long numbers.
 * @throws SyntaxError
 */
export function parseExactly(text: string): ReturnType<typeof JSON.parse> {
  // First of all, so that what is looked at below is JSON.
  const value = JSON.parse(text)
  if (!HAS_LONG_NUMBER.test(text)) return value
  // Nobody can send it. A list, since it can be no name of a member.
  const mark = randomUUID()
  const marked = markedIn(text, mark)
  return marked === text ? value : withRawNumbers(JSON.parse(marked), mark)
}

function markedIn(text: string, mark: string): string {
  const parts: string[] = []
  let from = 0
  const tokens = new RegExp(TEXT_OR_LONG_NUMBER)
  for (let match = tokens.exec(text); match; match = tokens.exec(text)) {
    const [token] = match
    if (token === '"') tokens.lastIndex = endOfText(text, match.index) + 1
    else if (String(Number(token)) !== token) {
      parts.push(text.slice(from, match.index), `["${mark}","${token}"]`)
      from = tokens.lastIndex
    }
  }
  return parts.length === 0 ? text : parts.join('') + text.slice(from)
}

/** JSON that is the same in whichever order the members of its objects are. */
export function orderedJson(value: unknown): string {
  return JSON.stringify(value, (_name, member: unknown) =>
    isObject(member)
      ? Object.fromEntries(Object.entries(member).sort(([a], [b]) => (a < b ? -1 : 1)))
      : member,
  )
}

/** @returns the index of the closing quote of the text that opens at `begin`; the length or more if there is none */
export function endOfText(json: string, begin: number): number {
  let index = begin + 1
  while (index < json.length && json.charCodeAt(index) !== QUOTE) {
    index += json.charCodeAt(index) === BACKSLASH ? 2 : 1
  }
  return index
}

function withRawNumbers(value: unknown, mark: string): unknown {
  if (!hasMembers(value)) return value
  if (value[0] === mark) return JSON.rawJSON(String(value[1]))
  if (Array.isArray(value)) return value.map(item => withRawNumbers(item, mark))
  const members: Record<string, unknown> = value
  for (const name of Object.keys(members)) members[name] = withRawNumbers(members[name], mark)
  return members
}

/** The nearest number to a RawNumber; other values as they are. */
export const rounded = (value: unknown): unknown =>
  typeof value === 'object' && JSON.isRawJSON(value) ? Number(value.rawJSON) : value

/**
 * What is wrong with a value that is stored as JSON and shown to every caller, some of whom cannot read halves of characters.
 * @param most number of characters
 */
export function problemOfJson(value: unknown, most: number): string | undefined {
  if (JSON.stringify(value).length > most) return `must be at most ${most} characters of JSON.`
  // JSON would have nothing in its place.
  if (!hasFiniteNumbers(value)) return 'must not have numbers that are too large to be kept, such as 1e400.'
  return hasPlainTexts(value) ? undefined : 'must have texts and names without control characters.'
}

function hasFiniteNumbers(value: unknown): boolean {
  if (typeof value === 'number') return Number.isFinite(value)
  return !hasMembers(value) || Object.values(value).every(hasFiniteNumbers)
}

/** Marks of the direction of text stay: names of products have them, and no page shows JSON as one line. */
function hasPlainTexts(value: unknown): boolean {
  if (typeof value === 'string') return isPlain(value)
  if (!hasMembers(value)) return true
  return Object.entries(value).every(([name, member]) => isPlain(name) && hasPlainTexts(member))
}

/** A list, page by page. */
type Pages = AsyncIterable<readonly object[]>

/** A line with a JSON object, in parts. @param members by name; pages become one list */
export async function* jsonLine(
  members: Readonly<Record<string, Pages | object | null>>,
): AsyncGenerator<string> {
  let before = '{'
  for (const [name, value] of Object.entries(members)) {
    yield `${before}${JSON.stringify(name)}:`
    if (isPages(value)) yield* listText(value)
    else yield JSON.stringify(value)
    before = ','
  }
  yield before === '{' ? '{}\n' : '}\n'
}

const isPages = (value: Pages | object | null): value is Pages =>
  value !== null && Symbol.asyncIterator in value

async function* listText(pages: Pages): AsyncGenerator<string> {
  let before = '['
  for await (const page of pages) {
    if (page.length === 0) continue
    yield before + page.map(member => JSON.stringify(member)).join(',')
    before = ','
  }
  yield before === '[' ? '[]' : ']'
}

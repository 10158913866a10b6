/**
 * Parses named parameters in all their notations: `a=1`, `a[]=1&a[]=2`, `a=1&a=2`, `date[start]=…`, `a[0][b]=…`. The same nesting
 * serves query strings, form-urlencoded bodies and multipart bodies.
 */
import { isUtf8 } from 'node:buffer'
import { Failure, invalidArguments } from '../base/errors.ts'
import { endOfText, parseExactly } from '../base/json.ts'
import { isObject } from '../base/unknown.ts'

/** Has no prototype, so that a parameter may have any name, even `constructor`. */
export type Parameters = { [name: string]: unknown }

const MAX_PARAMETERS = 20_000
/** Number of values with invalid UTF-8 that are reported one by one, since each costs an error. */
const MAX_BROKEN = 100
const MAX_DEPTH = 4
const JSON_TYPE = 'application/json'
export const LINES_TYPE = 'application/x-ndjson'
const MAX_JSON_DEPTH = 32

const [QUOTE, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE, COLON] = Buffer.from('"[]{}:')
const LINE_BREAK = 10

export const noParameters: Parameters = Object.freeze(Object.create(null))

/**
 * Placeholder for a value with invalid UTF-8. Valid text never contains it, so validation reports it with all other
 * problems.
 */
const NOT_UTF8 = '\ud800'

/** Of a field that nobody has filled in: none beside an object of the same name. */
const BLANK = ''

/** Decodes a name or value before percent-decoding. @returns undefined if it is not UTF-8 */
type ReadPart = (part: string) => string | undefined

const asItIs: ReadPart = part => part

/** For bytes that were read as Latin-1. */
const fromBytes: ReadPart = part => {
  const bytes = Buffer.from(part, 'latin1')
  return isUtf8(bytes) ? bytes.toString() : undefined
}

/**
 * Parses `application/x-www-form-urlencoded` text, including query strings.
 * @throws Failure invalid_argument if a name, or too many values, have invalid escapes or invalid UTF-8
 */
export function parseUrlEncoded(text: string, read = asItIs): Parameters {
  if (text === '') return noParameters
  const entries: [string, string][] = []
  let broken = 0
  for (const pair of text.split('&', MAX_PARAMETERS + 1)) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = decodeName(equals < 0 ? pair : pair.slice(0, equals), read)
    const value = equals < 0 ? '' : decode(pair.slice(equals + 1), read)
    if (value === undefined) broken += 1
    if (broken > MAX_BROKEN)
      throw invalidArguments({ [name.slice(0, 100)]: 'must be UTF-8, like all others.' })
    entries.push([name, value ?? NOT_UTF8])
  }
  return nest(entries)
}

/** Decoded as a whole if it is valid UTF-8; otherwise part by part, so that the invalid parts can be named. */
function parseForm(body: Buffer): Parameters {
  return isUtf8(body) ? parseUrlEncoded(body.toString()) : parseUrlEncoded(body.toString('latin1'), fromBytes)
}

const mediaTypeOf = (header: string) => header.split(';', 1)[0]!.trim().toLowerCase()

/** Whether the media type has typed values: an empty string in JSON is meant, in a form it is a field left blank. */
export function isTyped(header: string): boolean {
  return mediaTypeOf(header) === JSON_TYPE
}

const LONGEST_NOTHING = 100

/**
 * Whether a body has no arguments, whatever it says it is: several HTTP libraries send `null` when there is no body, and PHP an
 * empty array for an object without members.
 */
export function isNothing(body: Buffer): boolean {
  return (
    body.length === 0 || (body.length <= LONGEST_NOTHING && /^\s*(?:null|\[\])\s*$/.test(body.toString()))
  )
}

/**
 * Parses a body of the given media type.
 * @throws Failure invalid_json, invalid_argument or unsupported_media_type
 */
export async function parseBody(mediaType: string, body: Buffer): Promise<Parameters> {
  switch (mediaTypeOf(mediaType)) {
    case JSON_TYPE:
      return parseJson(body)
    case 'application/x-www-form-urlencoded':
      return parseForm(body)
    case 'multipart/form-data':
      return parseMultipart(mediaType, body)
    default:
      throw new Failure('unsupported_media_type')
  }
}

/** Whether the media type is NDJSON. */
export function hasLines(header: string): boolean {
  return mediaTypeOf(header) === LINES_TYPE
}

/**
 * The lines of NDJSON, including empty ones, so that line numbers match the sender's.
 * @returns undefined if there are more than `most`; they are not even split
 */
export function splitLines(body: Buffer, most: number): string[] | undefined {
  let breaks = 0
  for (let at = body.indexOf(LINE_BREAK); at >= 0; at = body.indexOf(LINE_BREAK, at + 1)) {
    breaks += 1
    if (breaks > most) return undefined
  }
  return isUtf8(body) ? body.toString().split('\n') : [...linesApart(body)]
}

/** A line that is not UTF-8 is no JSON either, and fails alone. */
function* linesApart(body: Buffer): Generator<string> {
  for (let start = 0; start <= body.length; ) {
    const end = body.indexOf(LINE_BREAK, start)
    const line = body.subarray(start, end < 0 ? body.length : end)
    yield isUtf8(line) ? line.toString() : '\ufffd'
    if (end < 0) return
    start = end + 1
  }
}

/** Parses the arguments in a body of JSON. @throws Failure invalid_json, invalid_argument */
export function parseJson(body: Buffer | string): Parameters {
  const value = valueIn(body)
  // Also in a line, and behind a byte order mark.
  if (value === null || (Array.isArray(value) && value.length === 0)) return noParameters
  return objectIn(value)
}

/** Parses one JSON object, which says something. @throws Failure invalid_json, invalid_argument */
export const parseObject = (body: Buffer): Parameters => objectIn(valueIn(body))

function objectIn(value: unknown): Parameters {
  if (!isObject(value)) throw new Failure('invalid_json')
  return value
}

/** With all digits of long numbers; undefined for what is too deep or has too many names. */
function valueIn(body: Buffer | string): unknown {
  try {
    const text = typeof body === 'string' ? body : utf8(body)
    // Some editors and exports write a byte order mark.
    return isWithinBounds(text) ? parseExactly(text.replace(/^\uFEFF/, '')) : undefined
  } catch (cause) {
    throw new Failure('invalid_json', { cause })
  }
}

/** Checked before parsing: deep nesting and many names cost more than their length. */
function isWithinBounds(json: string): boolean {
  let depth = 0
  let names = 0
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index)
    if (code === QUOTE) index = endOfText(json, index)
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) depth += 1
    else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth -= 1
    else if (code === COLON) names += 1
    if (depth > MAX_JSON_DEPTH || names > MAX_PARAMETERS) return false
  }
  return true
}

async function parseMultipart(mediaType: string, body: Buffer): Promise<Parameters> {
  utf8(body)
  let form: FormData
  try {
    form = await new Response(new Uint8Array(body), { headers: { 'content-type': mediaType } }).formData()
  } catch {
    throw invalidArguments({ body: 'must be multipart/form-data as its Content-Type says.' })
  }
  // A part with a name of a file is what the file contains.
  const textOf = async (value: string | Blob) => (typeof value === 'string' ? value : await value.text())
  return nest(await Promise.all([...form].map(async ([name, value]) => [name, await textOf(value)] as const)))
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

function utf8(bytes: Buffer): string {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    throw invalidArguments({ body: 'must be encoded as UTF-8.' })
  }
}

function decode(part: string, read: ReadPart): string | undefined {
  const text = read(part)
  if (text === undefined) return undefined
  // With many plus signs, replacing them one by one takes ten times as long.
  const spaced = text.includes('+') ? text.split('+').join(' ') : text
  if (!spaced.includes('%')) return spaced
  try {
    return decodeURIComponent(spaced)
  } catch {
    return undefined
  }
}

/** Decodes the name of a parameter. @throws Failure invalid_argument if it is not percent-encoded UTF-8 */
export function decodeName(text: string, read = asItIs): string {
  const name = decode(text, read)
  if (name === undefined) {
    throw invalidArguments({ [text.slice(0, 100)]: 'must be percent-encoded UTF-8.' })
  }
  return name
}

function nest(entries: readonly (readonly [name: string, value: unknown])[]): Parameters {
  if (entries.length > MAX_PARAMETERS) {
    throw invalidArguments({ body: `must have at most ${MAX_PARAMETERS} parameters.` })
  }
  const root: Parameters = Object.create(null)
  let hasIndexes = false
  for (const [name, value] of entries) {
    const { path, isItem } = pathOf(name)
    let parent = root
    for (const step of path.slice(0, -1)) parent = objectAt(parent, step)
    add(parent, path.at(-1)!, value, isItem)
    hasIndexes ||= path.length > 2 && path.slice(1, -1).some(isIndex)
  }
  return hasIndexes ? withLists(root) : root
}

const isIndex = (step: string) => /^\d+$/.test(step)

/**
 * 'products[0][name]', as PHP writes lists of objects: what has all indexes from 0 on, and nothing else, is a list. Maps by
 * identifier look alike, and begin elsewhere.
 */
function withLists(value: Parameters): Parameters {
  for (const [name, child] of Object.entries(value)) {
    if (!isObject(child)) continue
    const inner = withLists(child)
    const isList = Object.keys(inner).every((key, index) => key === String(index))
    value[name] = isList ? Object.values(inner) : inner
  }
  return value
}

/** 'date[start]' is the path date, start; 'a[]' and 'a[0]' are items of a, since items arrive in order. */
function pathOf(name: string): { path: string[]; isItem: boolean } {
  const open = name.indexOf('[')
  if (open <= 0 || !name.endsWith(']')) return { path: [name], isItem: false }
  const path = [name.slice(0, open), ...name.slice(open + 1, -1).split('][', MAX_DEPTH)]
  const isItem = /^\d*$/.test(path.at(-1)!)
  if (isItem) path.pop()
  return { path, isItem }
}

/** Beside a value (`date=…&date[end]=…`) it is one of two in a list, so that neither is lost unnoticed. */
function objectAt(parent: Parameters, name: string): Parameters {
  const present = parent[name]
  if (isObject(present)) return present
  const made: Parameters = Object.create(null)
  if (present === BLANK) parent[name] = made
  else add(parent, name, made, false)
  return made
}

/** A repeated name makes a list, and so does an item notation. */
function add(parent: Parameters, name: string, value: unknown, isItem: boolean): void {
  const present = parent[name]
  if (value === BLANK && isObject(present)) return
  if (present === undefined) parent[name] = isItem ? [value] : value
  else if (Array.isArray(present)) present.push(value)
  else parent[name] = [present, value]
}

/**
 * Named parameters as clients write them: `a=1`, `a[]=1&a[]=2`, `a=1&a=2`, `date[start]=…`. The same nesting
 * serves query strings, form-urlencoded bodies and multipart bodies.
 */
import { Failure, invalidArguments } from '../base/errors.ts'

/** Without a prototype, so that a parameter may have any name. */
export type Parameters = { [name: string]: unknown }

const MAX_PARAMETERS = 20_000
const MAX_DEPTH = 4
const MAX_JSON_DEPTH = 32

const [QUOTE, BACKSLASH, OPEN_BRACKET, CLOSE_BRACKET, OPEN_BRACE, CLOSE_BRACE] = Buffer.from('"\\[]{}')

export const noParameters: Parameters = Object.freeze(Object.create(null))

/** What no text may hold: a value that is not UTF-8 becomes this, and is refused together with all that is wrong. */
const NOT_UTF8 = '\ud800'

/**
 * Reads `application/x-www-form-urlencoded` text, which a query string is too.
 * @throws Failure invalid_argument when the escapes of a name are broken or are not UTF-8
 */
export function parseUrlEncoded(text: string): Parameters {
  if (text === '') return noParameters
  const entries: [string, string][] = []
  for (const pair of text.split('&', MAX_PARAMETERS + 1)) {
    if (pair === '') continue
    const equals = pair.indexOf('=')
    const name = equals < 0 ? pair : pair.slice(0, equals)
    entries.push([decodeName(name), equals < 0 ? '' : (decode(pair.slice(equals + 1)) ?? NOT_UTF8)])
  }
  return nest(entries)
}

/**
 * Reads a body of the given media type.
 * @throws Failure invalid_json, invalid_argument or unsupported_media_type
 */
export async function parseBody(mediaType: string, body: Buffer): Promise<Parameters> {
  if (body.length === 0) return noParameters
  switch (mediaType.split(';', 1)[0]!.trim().toLowerCase()) {
    case 'application/json':
      return parseJson(body)
    case 'application/x-www-form-urlencoded':
      return parseUrlEncoded(escaped(body))
    case 'multipart/form-data':
      return parseMultipart(mediaType, body)
    default:
      throw new Failure('unsupported_media_type')
  }
}

function parseJson(body: Buffer): Parameters {
  let value: unknown
  try {
    const text = utf8(body)
    if (!isNestedTooDeep(text)) value = JSON.parse(text)
  } catch (cause) {
    throw new Failure('invalid_json', { cause })
  }
  if (typeof value !== 'object' || value === null || Array.isArray(value)) throw new Failure('invalid_json')
  return value as Parameters
}

/** Looked for before it is parsed, so that no depth costs more than its length. */
function isNestedTooDeep(json: string): boolean {
  let depth = 0
  for (let index = 0; index < json.length; index += 1) {
    const code = json.charCodeAt(index)
    if (code === QUOTE) index = endOfText(json, index)
    else if (code === OPEN_BRACKET || code === OPEN_BRACE) depth += 1
    else if (code === CLOSE_BRACKET || code === CLOSE_BRACE) depth -= 1
    if (depth > MAX_JSON_DEPTH) return true
  }
  return false
}

/** @returns where the quote is that ends the text whose first quote is at `begin` */
function endOfText(json: string, begin: number): number {
  let index = begin + 1
  while (index < json.length && json.charCodeAt(index) !== QUOTE) {
    index += json.charCodeAt(index) === BACKSLASH ? 2 : 1
  }
  return index
}

async function parseMultipart(mediaType: string, body: Buffer): Promise<Parameters> {
  utf8(body)
  let form: FormData
  try {
    form = await new Response(new Uint8Array(body), { headers: { 'content-type': mediaType } }).formData()
  } catch {
    throw invalidArguments({ body: 'must be multipart/form-data as its Content-Type says.' })
  }
  return nest([...form])
}

const strictUtf8 = new TextDecoder('utf-8', { fatal: true })

function utf8(bytes: Buffer): string {
  try {
    return strictUtf8.decode(bytes)
  } catch {
    throw invalidArguments({ body: 'must be encoded as UTF-8.' })
  }
}

/** Bytes beyond ASCII as escapes, so that they are checked where escapes are. */
function escaped(body: Buffer): string {
  return body.toString('latin1').replace(/[\x80-\xff]/g, byte => `%${byte.charCodeAt(0).toString(16)}`)
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text.replaceAll('+', ' '))
  } catch {
    return undefined
  }
}

export function decodeName(text: string): string {
  const name = decode(text)
  if (name === undefined) {
    throw invalidArguments({ [text.slice(0, 100)]: 'must be percent-encoded UTF-8.' })
  }
  return name
}

function nest(entries: [name: string, value: unknown][]): Parameters {
  if (entries.length > MAX_PARAMETERS) {
    throw invalidArguments({ body: `must have at most ${MAX_PARAMETERS} parameters.` })
  }
  const root: Parameters = Object.create(null)
  for (const [name, value] of entries) {
    const { path, isItem } = pathOf(name)
    let parent = root
    for (const step of path.slice(0, -1)) {
      const child = parent[step]
      if (typeof child !== 'object' || child === null || Array.isArray(child))
        parent[step] = Object.create(null)
      parent = parent[step] as Parameters
    }
    add(parent, path.at(-1)!, value, isItem)
  }
  return root
}

/** 'date[start]' is date, start; 'a[]' and 'a[0]' are a, because arrays come in the order sent. */
function pathOf(name: string): { path: string[]; isItem: boolean } {
  const open = name.indexOf('[')
  if (open <= 0 || !name.endsWith(']')) return { path: [name], isItem: false }
  const path = [name.slice(0, open), ...name.slice(open + 1, -1).split('][', MAX_DEPTH)]
  const isItem = /^\d*$/.test(path.at(-1)!)
  if (isItem) path.pop()
  return { path, isItem }
}

/** A name that comes again makes a list, and so does one that says that it is an item. */
function add(parent: Parameters, name: string, value: unknown, isItem: boolean): void {
  const present = parent[name]
  if (present === undefined) parent[name] = isItem ? [value] : value
  else if (Array.isArray(present)) present.push(value)
  else parent[name] = [present, value]
}

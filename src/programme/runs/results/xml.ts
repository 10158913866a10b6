/**
 * Reads the subset of XML that banks send: elements with text. Everything that could make a reader do more (document types,
 * own entities, instructions) is refused.
 */
import { unreadable } from './csv.ts'

/** An element, at its end. */
interface Element {
  /** Without its prefix. */
  readonly name: string
  /** Undefined when it contains elements. */
  readonly text: string | undefined
  /** The names of the enclosing elements, and its own. */
  readonly path: readonly string[]
  /** As they are written; '' when it contains elements. */
  readonly attributes: string
}

const MOST_DEPTH = 64
/** Characters of a text or a tag: banks send hundreds. */
const MOST_TEXT = 10_000
/** What each construct ends with, by its beginning: found before anything else looks at it, so that it can be bounded. */
const ends: readonly (readonly [beginning: string, end: string])[] = [
  ['<!--', '-->'],
  ['<![CDATA[', ']]>'],
  ['<', '>'],
]
const TOKEN =
  /^(?:<!--[\s\S]*|<!\[CDATA\[([\s\S]*)\]\]>|<\?xml[^>]*\?>|<(\/?)([\w.:-]+)((?:\s+[^<>]*)?\/?)>|([^<]+))$/
const BROKEN = 'must be well-formed XML: it is cut off, or is something else.'
const TOO_LONG = `has a text or a tag of more than ${MOST_TEXT} characters.`

const entities: ReadonlyMap<string, string> = new Map(
  Object.entries({ amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }),
)

/**
 * One step for each tag, text and comment; undefined where no element ends.
 * @throws Failure invalid_argument when it is not well-formed, too long, or has a construct that is refused
 */
export function* readXml(content: string): Generator<Element | undefined> {
  const text = content.replace(/^\uFEFF/, '')
  const reader = new Reader()
  for (let at = 0; at < text.length; ) {
    const end = endOf(text, at)
    // A comment may be long: nothing reads it.
    const token = text.startsWith('<!--', at) ? '<!--' : text.slice(at, end)
    const match = TOKEN.exec(token)
    if (!match) throw unreadable(BROKEN)
    yield reader.read(match)
    at = end
  }
  if (!reader.isWhole) throw unreadable(BROKEN)
}

/** Where the tag, text or comment ends that begins here. */
function endOf(text: string, at: number): number {
  if (/^<!(?:DOCTYPE|ENTITY)/i.test(text.slice(at, at + '<!DOCTYPE'.length))) {
    throw unreadable('must be XML without a document type and without entities of its own.')
  }
  const [beginning, closing] = ends.find(([start]) => text.startsWith(start, at)) ?? ['', '<']
  const found = text.indexOf(closing, at + beginning.length)
  if (found < 0 && beginning !== '') throw unreadable(BROKEN)
  const next = found < 0 ? text.length : found + (beginning === '' ? 0 : closing.length)
  if (beginning !== '<!--' && next - at > MOST_TEXT) throw unreadable(TOO_LONG)
  return next
}

/** The state of reading: the open elements and the text. */
class Reader {
  readonly #path: string[] = []
  #text = ''
  #isLeaf = false
  #attributes = ''
  #any = false

  get isWhole(): boolean {
    return this.#any && this.#path.length === 0
  }

  /** @returns the element that ends here */
  read([token, verbatim, close, qualified, rest = '', plain]: RegExpExecArray): Element | undefined {
    const isOutside = this.#path.length === 0 && (verbatim !== undefined || /\S/.test(plain ?? ''))
    const isSecond = this.#any && (token.startsWith('<?') || (qualified !== undefined && this.isWhole))
    if (isOutside || isSecond) throw unreadable(BROKEN)
    if (qualified === undefined) {
      this.#text += verbatim ?? (plain === undefined ? '' : withoutEntities(plain))
      if (this.#text.length > MOST_TEXT) throw unreadable(TOO_LONG)
      return undefined
    }
    const name = qualified.slice(qualified.indexOf(':') + 1)
    const element = this.#tag(name, close === '/', rest)
    this.#text = ''
    this.#any = true
    return element
  }

  #tag(name: string, closes: boolean, rest: string): Element | undefined {
    const path = this.#path
    const isEmpty = rest.endsWith('/')
    if (closes) {
      if (path.at(-1) !== name || rest.trim() !== '') throw unreadable(BROKEN)
      const [text, attributes] = this.#isLeaf ? [this.#text.trim(), this.#attributes] : [undefined, '']
      const element = { name, text, path: [...path], attributes }
      path.pop()
      this.#isLeaf = false
      return element
    }
    if (path.length >= MOST_DEPTH) throw unreadable('has too many elements within one another.')
    this.#isLeaf = !isEmpty
    if (isEmpty) return { name, text: '', path: [...path, name], attributes: rest }
    this.#attributes = rest
    path.push(name)
    return undefined
  }
}

const ATTRIBUTE = /\s([\w.:-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g

/** @param attributes of an element @returns '' when it does not have the attribute */
export function attributeOf(attributes: string, name: string): string {
  for (const [, found, double, single] of attributes.matchAll(ATTRIBUTE)) {
    if (found === name) return withoutEntities(double ?? single ?? '')
  }
  return ''
}

function withoutEntities(text: string): string {
  return text.replace(/&(#x[\da-f]{1,6}|#\d{1,7}|\w{1,10});/gi, (_whole, name: string) => {
    if (name.startsWith('#')) {
      const code = Number(name[1]?.toLowerCase() === 'x' ? `0${name.slice(1)}` : name.slice(1))
      if (code > 0x10ffff) throw unreadable('names a character that there is not.')
      return String.fromCodePoint(code)
    }
    const character = entities.get(name)
    if (character === undefined) throw unreadable(`has the entity ${name}, which is not one of XML.`)
    return character
  })
}

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
}

const MOST_DEPTH = 64
const TOKEN =
  /<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<\?xml[^>]*\?>|<(\/?)([\w.:-]+)((?:\s+[^<>]*)?)>|([^<]+)/y
const BROKEN = 'must be well-formed XML: it is cut off, or is something else.'

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** @throws Failure invalid_argument when it is not well-formed, or has a construct that is refused */
export function* readXml(content: string): Generator<Element> {
  const text = content.replace(/^\uFEFF/, '')
  if (/<!(?:DOCTYPE|ENTITY)/i.test(text)) {
    throw unreadable('must be XML without a document type and without entities of its own.')
  }
  const reader = new Reader()
  const token = new RegExp(TOKEN)
  while (token.lastIndex < text.length) {
    const match = token.exec(text)
    if (!match) throw unreadable(BROKEN)
    const element = reader.read(match)
    if (element) yield element
  }
  if (!reader.isWhole) throw unreadable(BROKEN)
}

/** The state of reading: the open elements and the text. */
class Reader {
  readonly #path: string[] = []
  #text = ''
  #isLeaf = false
  #any = false

  get isWhole(): boolean {
    return this.#any && this.#path.length === 0
  }

  /** @returns the element that ends here */
  read([, verbatim, close, qualified, rest = '', plain]: RegExpExecArray): Element | undefined {
    if (qualified === undefined) {
      this.#text += verbatim ?? (plain === undefined ? '' : withoutEntities(plain))
      return undefined
    }
    const name = qualified.slice(qualified.indexOf(':') + 1)
    const element = this.#tag(name, close === '/', rest.endsWith('/'))
    this.#text = ''
    this.#any = true
    return element
  }

  #tag(name: string, closes: boolean, isEmpty: boolean): Element | undefined {
    const path = this.#path
    if (closes) {
      if (path.at(-1) !== name) throw unreadable(BROKEN)
      const element = { name, text: this.#isLeaf ? this.#text.trim() : undefined, path: [...path] }
      path.pop()
      this.#isLeaf = false
      return element
    }
    if (path.length >= MOST_DEPTH) throw unreadable('has too many elements within one another.')
    this.#isLeaf = !isEmpty
    if (isEmpty) return { name, text: '', path: [...path, name] }
    path.push(name)
    return undefined
  }
}

function withoutEntities(text: string): string {
  return text.replace(/&(#x[\da-f]{1,6}|#\d{1,7}|\w{1,10});/gi, (_whole, name: string) => {
    if (name.startsWith('#')) {
      const code = Number(name[1]?.toLowerCase() === 'x' ? `0${name.slice(1)}` : name.slice(1))
      if (code > 0x10ffff) throw unreadable('names a character that there is not.')
      return String.fromCodePoint(code)
    }
    const character = entities[name]
    if (character === undefined) throw unreadable(`has the entity ${name}, which is not one of XML.`)
    return character
  })
}

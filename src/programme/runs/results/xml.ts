/**
 * The parts of XML that banks send: elements with text. What could make a reader do anything else (document types,
 * entities of one's own, instructions) is refused.
 */
import { unreadable } from './csv.ts'

/** An element that has ended. */
interface Element {
  /** Without its prefix. */
  readonly name: string
  /** When it has no elements in it. */
  readonly text: string | undefined
  /** The elements that it stands in, and itself. */
  readonly path: readonly string[]
}

const MOST_DEPTH = 64
const TOKEN =
  /<!--[\s\S]*?-->|<!\[CDATA\[([\s\S]*?)\]\]>|<\?xml[^>]*\?>|<(\/?)([\w.:-]+)((?:\s+[^<>]*)?)>|([^<]+)/y
const BROKEN = 'must be well-formed XML: it is cut off, or is something else.'

const entities: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', apos: "'" }

/** @throws Failure invalid_argument when it is not well-formed, or has what is refused */
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
    const ended = reader.read(match)
    if (ended) yield ended
  }
  if (!reader.isWhole) throw unreadable(BROKEN)
}

/** Where in the document one is. */
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
    const ended = this.#tag(name, close === '/', rest.endsWith('/'))
    this.#text = ''
    this.#any = true
    return ended
  }

  #tag(name: string, closes: boolean, isEmpty: boolean): Element | undefined {
    const path = this.#path
    if (closes) {
      if (path.at(-1) !== name) throw unreadable(BROKEN)
      const ended = { name, text: this.#isLeaf ? this.#text.trim() : undefined, path: [...path] }
      path.pop()
      this.#isLeaf = false
      return ended
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
    const known = entities[name]
    if (known === undefined) throw unreadable(`has the entity ${name}, which is not one of XML.`)
    return known
  })
}

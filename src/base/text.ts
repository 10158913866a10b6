/** Text handling: e-mail addresses, and case folding for comparison and search. */

const LOCAL_PART = /^(?!\.)(?!.*\.\.)[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~.-]{1,64}(?<!\.)$/u
const DOMAIN_LABEL = /^(?!-)[\p{L}\p{M}\p{N}-]{1,63}(?<!-)$/u

/** E-mail address in common use: no quoted local part, a domain with at least two labels. */
export function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@')
  const labels = text.slice(at + 1).split('.')
  return (
    at > 0 &&
    LOCAL_PART.test(text.slice(0, at)) &&
    labels.length > 1 &&
    labels.every(label => DOMAIN_LABEL.test(label)) &&
    !/^\d+$/.test(labels.at(-1)!)
  )
}

/**
 * Case-folded form of logins, addresses and names, for comparison and search. Computed here and stored, so that both
 * database engines agree on it.
 */
export function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

const ACCENTS = /[\u0300-\u036f]/g
/** Letters without a Unicode decomposition, as people write them whose keyboards lack them. */
const PLAIN: Readonly<Record<string, string>> = {
  ß: 'ss',
  æ: 'ae',
  œ: 'oe',
  ø: 'o',
  đ: 'd',
  ð: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  þ: 'th',
}
const NOT_PLAIN = new RegExp(`[${Object.keys(PLAIN).join('')}]`, 'g')

/** Whether text has neither control characters, except tabs and line breaks, nor halves of characters. */
export const isPlain = (text: string): boolean => !/(?![\t\n\r])[\p{Cc}\p{Cs}]/u.test(text)

/** Form in which names are searched: without case and accents. Addresses and codes keep their accents. */
export function foldAccents(text: string): string {
  return foldCase(text)
    .normalize('NFD')
    .replace(ACCENTS, '')
    .replace(NOT_PLAIN, letter => PLAIN[letter]!)
    .normalize('NFC')
}

/** A search term, as patterns for LIKE … ESCAPE '\\'. */
export interface Word {
  /** Matches names, which are stored without accents. */
  readonly pattern: string
  /** Matches columns that keep their accents; present if the term has any. */
  readonly accented?: string
}

export interface TextSearch {
  /** The whole text, folded like addresses. */
  readonly key: string
  /** All must match, in any order. */
  readonly words: readonly Word[]
  /** Those alone may match, where an index has found few: identifiers, as names of a JSON object. */
  readonly candidates?: string
  /** So many may match that the first ones are near, in any order. */
  readonly many?: true
}

/** Digits are always an identifier. */
export interface NumberSearch {
  readonly id: number
  /** The same digits, which may also be what others call it, such as the number of an order: absent after a #. */
  readonly digits?: string
}

export type Search = TextSearch | NumberSearch

export function parseSearch(text: string): Search {
  const [, hash, digits] = /^(#?)(\d{1,16})$/.exec(text.trim()) ?? []
  const id = Number(digits)
  if (Number.isSafeInteger(id)) return { id, ...(hash === '' && { digits: digits! }) }
  const key = foldCase(text.trim())
  return { key, words: [...new Set(key.split(/\s+/))].map(wordOf) }
}

function wordOf(key: string): Word {
  const plain = foldAccents(key)
  // Combining marks without a letter would match everything.
  if (plain === '') return { pattern: patternOf(key) }
  return { pattern: patternOf(plain), ...(plain !== key && { accented: patternOf(key) }) }
}

/** The text that a pattern finds. */
export const textOf = (pattern: string): string => pattern.slice(1, -1).replace(/\\([\\%_])/g, '$1')

const patternOf = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`

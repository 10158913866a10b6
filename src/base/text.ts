/** Text as people write it: e-mail addresses, and the folded form under which text is compared and searched. */

const LOCAL_PART = /^(?!\.)(?!.*\.\.)[\p{L}\p{M}\p{N}!#$%&'*+/=?^_`{|}~.-]{1,64}(?<!\.)$/u
const DOMAIN_LABEL = /^(?!-)[\p{L}\p{M}\p{N}-]{1,63}(?<!-)$/u

/** An address as people have them: no quoted local part, a domain with at least two labels. */
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
 * The form under which logins, addresses and names are compared and searched: without regard to case. Computed
 * here and stored, so that every database engine agrees on it.
 */
export function foldCase(text: string): string {
  return text.normalize('NFC').toLowerCase()
}

const ACCENTS = /[\u0300-\u036f]/g
/** Letters that Unicode does not take apart, as people write them who do not have them. */
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

/** The form under which names are searched: without regard to case and accents. Addresses and codes are never folded so. */
export function foldAccents(text: string): string {
  return foldCase(text)
    .normalize('NFD')
    .replace(ACCENTS, '')
    .replace(NOT_PLAIN, letter => PLAIN[letter]!)
    .normalize('NFC')
}

/** A word that is searched for, as patterns for LIKE … ESCAPE '\\'. */
export interface Word {
  /** Finds it in names, which are folded without accents. */
  readonly pattern: string
  /** Finds it in what keeps its accents, where it has some. */
  readonly accented?: string
}

export interface TextSearch {
  /** The whole text, folded as addresses are. */
  readonly key: string
  /** All of them are to be found, in any order. */
  readonly words: readonly Word[]
}

/** Digits, with or without the # that people write before them, are an identifier and nothing else. */
export type Search = TextSearch | { readonly id: number }

export function parseSearch(text: string): Search {
  const id = Number(/^#?(\d{1,16})$/.exec(text.trim())?.[1])
  if (Number.isSafeInteger(id)) return { id }
  const key = foldCase(text.trim())
  return { key, words: [...new Set(key.split(/\s+/))].map(wordOf) }
}

function wordOf(key: string): Word {
  const plain = foldAccents(key)
  // Accents without a letter would find everything.
  if (plain === '') return { pattern: patternOf(key) }
  return { pattern: patternOf(plain), ...(plain !== key && { accented: patternOf(key) }) }
}

const patternOf = (text: string) => `%${text.replace(/[\\%_]/g, '\\$&')}%`

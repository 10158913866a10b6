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

export interface TextSearch {
  /** The text, folded. */
  readonly key: string
  /** Finds the folded text anywhere, whatever letters it has: for LIKE … ESCAPE '\\'. */
  readonly pattern: string
}

/** Digits, with or without the # that people write before them, are an identifier and nothing else. */
export type Search = TextSearch | { readonly id: number }

export function parseSearch(text: string): Search {
  const id = Number(/^#?(\d{1,16})$/.exec(text.trim())?.[1])
  if (Number.isSafeInteger(id)) return { id }
  const key = foldCase(text.trim())
  return { key, pattern: `%${key.replace(/[\\%_]/g, '\\$&')}%` }
}

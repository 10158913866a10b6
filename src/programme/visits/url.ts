/** What the texts of a visit are cut to, and how they are read. Pure. */
import { isLine } from '../../base/schemas.ts'

const MAX_URL = 2048
export const MAX_CAMPAIGN = 190

/** What is stored of an address: those of advertisements may be longer. */
export const shortened = (url: string): string => url.slice(0, MAX_URL).toWellFormed()

/** The character that an address escapes, by one byte of UTF-8 or several. */
const ESCAPED =
  /%[0-7][\da-f]|%[cd][\da-f]%[89ab][\da-f]|%e[\da-f](?:%[89ab][\da-f]){2}|%f[0-7](?:%[89ab][\da-f]){3}/gi

/**
 * The name of a campaign as a client program sends it: some escape it once more than its place in the query asks for. What
 * escapes no character of a line stays as it is.
 */
export const campaignIn = (sent: string): string =>
  [...sent.replace(ESCAPED, unescaped)].slice(0, MAX_CAMPAIGN).join('')

function unescaped(sequence: string): string {
  try {
    const character = decodeURIComponent(sequence)
    return isLine(character) ? character : sequence
  } catch {
    return sequence
  }
}

/** The query variable that names the affiliate. */
const VARIABLE = 'ref'

/**
 * The page without the affiliate's variable, the same for every affiliate. As text, because URLs of shops are often not escaped
 * and parsing would rewrite them.
 */
export function withoutAffiliate(url: string): string {
  const [, page, query, fragment] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url)!
  const suffix = [query ? withoutPair(query) : '', fragment ?? ''].join('')
  return `${page!.replace(new RegExp(`/${VARIABLE}/[^/]+`), '')}${suffix}`
}

function withoutPair(query: string): string {
  const pairs = query.slice(1).split('&')
  const otherPairs = pairs.filter(pair => pair.split('=', 1)[0] !== VARIABLE)
  if (otherPairs.length === pairs.length) return query
  return otherPairs.length === 0 ? '' : `?${otherPairs.join('&')}`
}

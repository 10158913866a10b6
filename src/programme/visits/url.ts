const MAX_URL = 2048

/** What is stored of an address: those of advertisements may be longer. */
export const shortened = (url: string): string => url.slice(0, MAX_URL).toWellFormed()

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

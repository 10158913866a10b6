/** The variable of links that names the affiliate. */
const VARIABLE = 'ref'

/**
 * The page alone: it is the same page for every affiliate. As text, because what shops send is often not escaped, and
 * parsing would write it in another way.
 */
export function withoutAffiliate(url: string): string {
  const [, page, query, fragment] = /^([^?#]*)(\?[^#]*)?(#.*)?$/s.exec(url)!
  const rest = [query ? withoutPair(query) : '', fragment ?? ''].join('')
  return `${page!.replace(new RegExp(`/${VARIABLE}/[^/]+`), '')}${rest}`
}

function withoutPair(query: string): string {
  const pairs = query.slice(1).split('&')
  const others = pairs.filter(pair => pair.split('=', 1)[0] !== VARIABLE)
  if (others.length === pairs.length) return query
  return others.length === 0 ? '' : `?${others.join('&')}`
}

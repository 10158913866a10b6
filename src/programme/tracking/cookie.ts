/** The cookie in which the script stores the first and the last token, where the service is on the shop's own host. */

import type { IncomingHttpHeaders } from 'node:http'
import { DAY_SECONDS } from '../../base/time.ts'

const NAME = 'aff_click'

/**
 * The domains whose hosts share the cookie, the widest first: those that the settings name with a wildcard. They have no
 * port, for cookies know none.
 * @param hosts of the settings
 */
export function cookieDomains(hosts: readonly string[]): readonly string[] {
  const domains = hosts.filter(host => host.startsWith('*.')).map(host => host.slice(2).replace(/:\d+$/, ''))
  return [...new Set(domains)].sort((a, b) => a.length - b.length)
}

/**
 * The same cookie that the script would set. Set by a server it lasts longer in browsers that limit cookies of scripts.
 * @returns undefined where the page is on another host
 */
export function clickCookie(
  { 'sec-fetch-site': site, cookie = '' }: IncomingHttpHeaders,
  token: string,
  { days, secure }: { days: number; secure: boolean },
): string | undefined {
  if (site !== 'same-origin') return undefined
  const [, first = token] = /(?:^|; )aff_click=([\w-]{60,200})\./.exec(cookie) ?? []
  const attributes = `Path=/; SameSite=Lax; Max-Age=${days * DAY_SECONDS}${secure ? '; Secure' : ''}`
  return `${NAME}=${first}.${token}; ${attributes}`
}

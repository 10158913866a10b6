/** The cookie in which the script stores the first and the last token, where the service is on the shop's own host. */

import type { IncomingHttpHeaders } from 'node:http'
import type { TrackingSettings } from '../../base/settings.ts'
import { DAY_SECONDS, now } from '../../base/time.ts'
import { timeOf } from './token.ts'

const NAME = 'aff_click'

/**
 * The domains whose hosts share the cookie, none within another: the widest of those that the settings name with a
 * wildcard. They have no port, for cookies know none.
 * @param hosts of the settings
 */
export function cookieDomains(hosts: readonly string[]): readonly string[] {
  const domains = hosts.filter(host => host.startsWith('*.')).map(host => host.slice(2).replace(/:\d+$/, ''))
  const isWithin = (inner: string, outer: string) => inner !== outer && inner.endsWith(`.${outer}`)
  return [...new Set(domains)].filter(one => !domains.some(other => isWithin(one, other)))
}

/**
 * The token of a click that is counted already, which the script asks to have in the cookie. It is stored as the script
 * would store it: whether it is valid is seen when it comes with a sale.
 */
export function tokenToSet(body: string): string | undefined {
  return /^aff_click=([\w-]{60,200})$/.exec(body)?.[1]
}

/**
 * The same cookie that the script sets, of the same domain: browsers would store two of one name. Set by a server it lasts
 * longer in browsers that limit cookies of scripts.
 * @returns undefined where the page is on another host
 */
export function clickCookie(
  { 'sec-fetch-site': site, origin = '', cookie = '' }: IncomingHttpHeaders,
  token: string,
  { tracking, secure }: { tracking: TrackingSettings; secure: boolean },
): string | undefined {
  if (site !== 'same-origin') return undefined
  const [, ...before] = /(?:^|; )aff_click=([\w-]{60,200})\.([\w-]{60,200})/.exec(cookie) ?? []
  const since = now() - tracking.attributionDays * DAY_SECONDS
  // As the script judges: one that counts no more is no first click.
  const first = before.find(one => timeOf(one) > since) ?? token
  // The page's origin: a proxy may have replaced the Host header.
  const page = URL.parse(origin)?.hostname ?? ''
  const shared = cookieDomains(tracking.hosts).find(domain => `.${page}`.endsWith(`.${domain}`))
  const attributes = [
    'Path=/',
    'SameSite=Lax',
    `Max-Age=${tracking.attributionDays * DAY_SECONDS}`,
    ...(shared === undefined ? [] : [`Domain=${shared}`]),
    ...(secure ? ['Secure'] : []),
  ]
  return `${NAME}=${first}.${token}; ${attributes.join('; ')}`
}

/** Tracking settings, and their validation. */
import { Type } from 'typebox'
import type { Problems } from '../base/errors.ts'
import { line, listOf } from '../base/schemas.ts'
import { days, group, oneOf, text, yesOrNo } from './setting.ts'

const MOST_HOSTS = 100

const HOSTS =
  'Hosts that links may lead to and on whose pages the script works, in addition to the host of the programme page: shop.example, shop.example:8443, or *.shop.example for all hosts below it.'

export const tracking = group({
  programme_page: text(
    'page',
    line(
      2048,
      'The page of the shop to which links lead if they have no destination, or if their code is unknown; empty if there is none.',
    ),
  ),
  visitor_url: text(
    'visitorUrl',
    line(
      2048,
      "The URL at which visitors reach the links and the script, such as https://shop.example/go; the administration area shows links with it. Empty if it is the same as the administration area's.",
    ),
  ),
  allowed_hosts: {
    property: 'hosts',
    schema: listOf(line(253), HOSTS),
    shown: Type.Array(Type.String(), { description: HOSTS }),
    read: (stored = ''): readonly string[] => (stored === '' ? [] : stored.split(',')),
    store: hostsText,
  },
  attribution: oneOf(
    'attribution',
    ['last', 'first'],
    'Which click of a customer gets the credit for a sale.',
  ),
  attribution_days: days(
    'attributionDays',
    { initial: 30, minimum: 1, maximum: 365 },
    'Number of days after a click within which a sale is credited to it.',
  ),
  visit_days: days(
    'visitDays',
    { initial: 90, minimum: 1, maximum: 3650 },
    'Number of days for which individual visits are kept; daily totals are kept for good.',
  ),
  consent_required: yesOrNo(
    'consentRequired',
    false,
    "Whether the script on the shop's pages waits for the visitor's consent.",
  ),
})

interface Changes {
  readonly programme_page?: string
  readonly visitor_url?: string
  readonly allowed_hosts?: readonly string[]
}

const NO_WEB_PAGE = 'must begin with https:// or http://, or be empty.'

export function trackingProblems({ programme_page, visitor_url, allowed_hosts: hosts }: Changes): Problems {
  const wrong = hosts?.filter(host => canonicalHost(host) === undefined) ?? []
  return {
    ...(programme_page && !isWebPage(programme_page) && { programme_page: NO_WEB_PAGE }),
    ...(visitor_url && !isWebPage(visitor_url) && { visitor_url: NO_WEB_PAGE }),
    ...(visitor_url && /[?#]/.test(visitor_url) && { visitor_url: 'must have neither ? nor #.' }),
    ...(wrong.length > 0 && {
      allowed_hosts: `must be hosts such as shop.example or *.shop.example, without a scheme or a path. Not: ${wrong.join(', ')}.`,
    }),
    ...(hosts && hosts.length > MOST_HOSTS && { allowed_hosts: `must be at most ${MOST_HOSTS}.` }),
  }
}

function hostsText(hosts: readonly string[]): string {
  return [...new Set(hosts.map(host => canonicalHost(host)))].join(',')
}

function isWebPage(text: string): boolean {
  const url = URL.parse(text)
  return /^https?:\/\//i.test(text) && url !== null && url.username === '' && url.password === ''
}

/**
 * Host as URLs have it: lower case, without the default port; undefined if invalid. A wildcard below a single label, such
 * as `*.com`, would cover other people's hosts.
 */
function canonicalHost(text: string): string | undefined {
  const [, below = '', name] = /^(\*\.)?([^\s*/?#@\\,]+)$/.exec(text) ?? []
  const url = name === undefined ? null : URL.parse(`https://${name}/`)
  if (!url?.host || (below !== '' && !url.hostname.includes('.'))) return undefined
  return below + url.host
}

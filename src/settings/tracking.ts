/** Tracking settings: as callers send and see them, as they are stored, and their validation. */
import { Type } from 'typebox'
import type { Problems } from '../base/errors.ts'
import { choice, flag, line, listOf } from '../base/schemas.ts'
import type { Settings, TrackingSettings } from '../base/settings.ts'

const MOST_HOSTS = 100

const HOSTS =
  'Hosts that links may lead to, and whose pages the script works on, beside that of the programme page: shop.example, shop.example:8443, or *.shop.example for all below it.'

const days = (maximum: number, description: string) => Type.Integer({ minimum: 1, maximum, description })

export const trackingSchemas = {
  programme_page: line(
    2048,
    'The page of the shop that links lead to when they name no other, and unknown codes; empty when there is none.',
  ),
  visitor_url: line(
    2048,
    "Where visitors reach the links and the script, such as https://shop.example/go: the administration area shows addresses of links so. Empty where it is the administration area's own address.",
  ),
  allowed_hosts: listOf(line(253), HOSTS),
  attribution: choice(['last', 'first'], 'Which click of a customer a sale is credited to.'),
  attribution_days: days(365, 'How many days after a click a sale is credited to it.'),
  visit_days: days(3650, 'How many days visits are kept one by one; daily sums stay.'),
  consent_required: flag(
    'Whether the script on the pages of the shop waits until the visitor has consented.',
  ),
}

export const trackingFields = {
  ...trackingSchemas,
  allowed_hosts: Type.Array(Type.String(), { description: HOSTS }),
}

export const trackingNames = Object.keys(trackingSchemas)

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

/** The changes as name and stored value. */
export function storedTracking(changes: Changes): [string, string][] {
  return Object.entries(changes)
    .filter(([name, value]) => trackingNames.includes(name) && value !== undefined)
    .map(([name, value]) => [name, name === 'allowed_hosts' ? hostsText(value) : String(value)])
}

const hostsText = (hosts: readonly string[]) => [...new Set(hosts.map(host => canonicalHost(host)))].join(',')

export function trackingOf(values: ReadonlyMap<string, string>): TrackingSettings {
  const hosts = values.get('allowed_hosts') || undefined
  return {
    page: values.get('programme_page') ?? '',
    visitorUrl: values.get('visitor_url') ?? '',
    hosts: hosts?.split(',') ?? [],
    attribution: values.get('attribution') === 'first' ? 'first' : 'last',
    attributionDays: Number(values.get('attribution_days') ?? 30),
    visitDays: Number(values.get('visit_days') ?? 90),
    consentRequired: values.get('consent_required') === 'true',
  }
}

export function trackingRecord({ tracking }: Settings) {
  return {
    programme_page: tracking.page,
    visitor_url: tracking.visitorUrl,
    allowed_hosts: [...tracking.hosts],
    attribution: tracking.attribution,
    attribution_days: tracking.attributionDays,
    visit_days: tracking.visitDays,
    consent_required: tracking.consentRequired,
  }
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

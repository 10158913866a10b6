/** Allowed destinations of links: the hosts of the settings. Pure. */
import type { TrackingSettings } from '../../base/settings.ts'

/** What decides where links may lead. */
type Hosts = Pick<TrackingSettings, 'page' | 'hosts'>

/**
 * A visitor is only sent to a URL as the URL parser writes it, never to text as it came: that removes what browsers
 * interpret differently (backslashes, line breaks, missing slashes).
 * @param text a URL, or a path relative to the link's page
 * @param base that page
 * @returns undefined if it is not on an allowed host
 */
export function allowedUrl(text: string, settings: Hosts, base?: string): URL | undefined {
  const url = URL.parse(text, base)
  if (url === null || (url.protocol !== 'https:' && url.protocol !== 'http:')) return undefined
  if (url.username !== '' || url.password !== '') return undefined
  return isAllowedHost(url.host, settings) ? url : undefined
}

/** @param host as in a URL: lower case, with the port where it is not the default */
function isAllowedHost(host: string, { page, hosts }: Hosts): boolean {
  return (page !== '' && URL.parse(page)?.host === host) || hosts.some(allowed => isOn(host, allowed))
}

/**
 * @param allowed a host of the settings; the dot belongs to it: *.shop.example is neither shop.example nor
 * badshop.example
 */
export function isOn(host: string, allowed: string): boolean {
  return allowed.startsWith('*.') ? host.endsWith(allowed.slice(1)) : host === allowed
}

/** The page that a link leads to; the programme's where it names none, or one that is not allowed any more. */
export function destinationOf(destination: string, settings: Hosts): URL | undefined {
  const chosenUrl = destination === '' ? undefined : allowedUrl(destination, settings)
  return chosenUrl ?? URL.parse(settings.page) ?? undefined
}

const CLICK_PARAMETER = 'aff_click'

/** The URL with the token of the click, in place of one that it may have had. */
export function withToken(url: URL, token: string): string {
  const { search } = url
  if (url.searchParams.has(CLICK_PARAMETER)) {
    const withNewToken = new URL(url)
    withNewToken.searchParams.set(CLICK_PARAMETER, token)
    return withNewToken.href
  }
  // As text, so that the other parameters stay exactly as they are.
  const { hash, href } = url
  const page = hash === '' ? href.replace(/#$/, '') : href.slice(0, -hash.length)
  const joint = page.includes('?') ? (search === '' ? '' : '&') : '?'
  return `${page}${joint}${CLICK_PARAMETER}=${token}${hash}`
}

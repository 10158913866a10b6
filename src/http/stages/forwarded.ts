import { isIP } from 'node:net'
import type { onRequestHookHandler } from 'fastify'

/**
 * Sanitises X-Forwarded headers down to a scheme and addresses, since both go into links, limits and the audit log.
 * Whether the proxy is trusted at all is decided later, by Fastify.
 */
export const forwarded: onRequestHookHandler = ({ raw: { headers } }, _reply, done) => {
  const { 'x-forwarded-for': addresses, 'x-forwarded-proto': schemes } = headers
  if (addresses !== undefined) headers['x-forwarded-for'] = lastAddresses(String(addresses))
  if (schemes !== undefined) headers['x-forwarded-proto'] = schemeOf(String(schemes))
  done()
}

/** The last value is from the nearest proxy; earlier ones may be forged. */
function schemeOf(list: string): 'http' | 'https' | undefined {
  const scheme = list
    .slice(list.lastIndexOf(',') + 1)
    .trim()
    .toLowerCase()
  return scheme === 'http' || scheme === 'https' ? scheme : undefined
}

/** The addresses after the last invalid value: each proxy appends the one it saw. */
function lastAddresses(list: string): string {
  if (isIP(list) !== 0) return list
  const addresses = list.split(',').map(withoutPort)
  const behind = addresses.findLastIndex(address => isIP(address) === 0) + 1
  return addresses.slice(behind).join(', ')
}

/** Some proxies add the port: 192.0.2.1:4711, [2001:db8::1]:4711. */
function withoutPort(text: string): string {
  const address = text.trim()
  return /^\[([^\]]+)\](?::\d+)?$/.exec(address)?.[1] ?? /^([^:]+):\d+$/.exec(address)?.[1] ?? address
}

import { isIP, isIPv6 } from 'node:net'

/**
 * The networks that rate limits count by, narrowest first. The holder of one IPv6 address controls its whole /64, and
 * many providers assign a /48, which is 65,536 of those.
 */
export function networksOf(address: string): [string, ...string[]] {
  if (!isIPv6(address)) return [address]
  const mapped = mappedAddress(address)
  if (mapped !== undefined) return [mapped]
  const [start, end] = address.split('::', 2).map(part => part.split(':').filter(group => group !== ''))
  const zeros = end ? 8 - start!.length - end.length : 0
  const groups = [...start!, ...Array<string>(zeros).fill('0'), ...(end ?? [])].map(group =>
    Number.parseInt(group, 16).toString(16),
  )
  const network = (bits: number) => `${groups.slice(0, bits / 16).join(':')}::/${bits}`
  return [network(64), network(48)]
}

/** Truncates a visitor's address to its network: /24 for IPv4, /48 for IPv6. */
export function withoutHost(address: string): string {
  const [narrowest, widest] = networksOf(address)
  return widest?.replace('/48', '') ?? narrowest.replace(/\d+$/, '0')
}

/**
 * The client's address in what a proxy has passed on: alone, with a port, or the first of a list.
 * @returns '' where it says that nobody knows the address; undefined where there is none
 */
export function clientIn(forwarded: string): string | undefined {
  const hops = forwarded.split(',').map(hop => withoutPort(hop.trim()))
  const isKnown = hops.some(hop => hop !== '' && hop.toLowerCase() !== 'unknown')
  return isKnown ? hops.find(hop => isIP(hop) !== 0) : ''
}

function withoutPort(hop: string): string {
  const { ipv6, ipv4 } = /^(?:\[(?<ipv6>.*)\]|(?<ipv4>[\d.]+))(?::\d+)?$/.exec(hop)?.groups ?? {}
  return ipv6 ?? ipv4 ?? hop
}

/** The IPv4 address mapped in an IPv6 address (RFC 4291, 2.5.5.2). The URL parser normalises its notation. */
function mappedAddress(address: string): string | undefined {
  const groups = /^\[::ffff:([0-9a-f]+):([0-9a-f]+)\]$/.exec(URL.parse(`http://[${address}]`)?.hostname ?? '')
  if (!groups) return undefined
  return groups
    .slice(1)
    .flatMap(group => {
      const bits = Number.parseInt(group, 16)
      return [bits >> 8, bits & 255]
    })
    .join('.')
}

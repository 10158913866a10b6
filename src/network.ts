import { isIPv6 } from 'node:net'

/** What limits count by. Whoever has one IPv6 address has the 2^64 beside it, so they count as one. */
export function networkOf(address: string): string {
  if (!isIPv6(address)) return address
  const mapped = /^::ffff:([\d.]+)$/i.exec(address)?.[1]
  if (mapped !== undefined) return mapped
  const [start, end] = address.split('::', 2).map(part => part.split(':').filter(group => group !== ''))
  const zeros = end ? 8 - start!.length - end.length : 0
  const groups = [...start!, ...Array<string>(zeros).fill('0'), ...(end ?? [])]
  return `${groups
    .slice(0, 4)
    .map(group => Number.parseInt(group, 16).toString(16))
    .join(':')}::/64`
}

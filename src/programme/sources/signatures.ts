/**
 * Verifies who has sent a delivery. Stripe's own library has the same check among 10 MB of code that is not needed
 * here; its scheme is documented: https://docs.stripe.com/webhooks#verify-manually
 */
import { createHmac, timingSafeEqual } from 'node:crypto'
import type { Source } from './source.ts'

const TOLERANCE_SECONDS = 300

export type Headers = Readonly<Record<string, string | string[] | undefined>>

const headerOf = (headers: Headers, name: string): string => {
  const value = headers[name.toLowerCase()]
  return typeof value === 'string' ? value : ''
}

const macOf = (secret: string, ...parts: (string | Buffer)[]): Buffer => {
  const mac = createHmac('sha256', secret)
  for (const part of parts) mac.update(part)
  return mac.digest()
}

function isSame(mac: Buffer, expected: Buffer): boolean {
  return mac.length === expected.length && timingSafeEqual(mac, expected)
}

/** @param now in seconds */
export function isSigned(
  { type, secret, signature_header }: Source,
  headers: Headers,
  body: Buffer,
  now: number,
): boolean {
  if (type === 'stripe') return isSignedByStripe(secret, headerOf(headers, 'stripe-signature'), body, now)
  if (type === 'woocommerce') {
    return isSame(macOf(secret, body), Buffer.from(headerOf(headers, 'x-wc-webhook-signature'), 'base64'))
  }
  const signature = headerOf(headers, signature_header).replace(/^sha256=/i, '')
  const mac = macOf(secret, body)
  return isSame(mac, Buffer.from(signature, /^[\da-f]{64}$/i.test(signature) ? 'hex' : 'base64'))
}

/** `t=TIME,v1=SIGNATURE`, with several signatures while a secret is replaced. */
function isSignedByStripe(secret: string, header: string, body: Buffer, now: number): boolean {
  const pairs = header.split(',').map(pair => pair.split('=', 2))
  const time = pairs.find(([name]) => name?.trim() === 't')?.[1] ?? ''
  if (!/^\d{1,12}$/.test(time) || Math.abs(now - Number(time)) > TOLERANCE_SECONDS) return false
  const mac = macOf(secret, `${time}.`, body)
  return pairs.some(([name, value = '']) => name?.trim() === 'v1' && isSame(mac, Buffer.from(value, 'hex')))
}

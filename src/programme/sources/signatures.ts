/** Verifies who has sent a delivery. */
import { createHmac, timingSafeEqual } from 'node:crypto'

export type Headers = Readonly<Record<string, string | string[] | undefined>>

/** A delivery as it arrived. */
export interface Signed {
  readonly headers: Headers
  readonly body: Buffer
  /** When it arrived, in seconds. */
  readonly at: number
}

export const headerOf = (headers: Headers, name: string): string => {
  const value = headers[name.toLowerCase()]
  return typeof value === 'string' ? value : ''
}

/** HMAC-SHA256. */
export const macOf = (secret: string, body: Buffer): Buffer =>
  createHmac('sha256', secret).update(body).digest()

/** In constant time. */
export function isSame(mac: Buffer, expected: Buffer): boolean {
  return mac.length === expected.length && timingSafeEqual(mac, expected)
}

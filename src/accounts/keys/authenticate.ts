/** Authentication by API key. */
import type { Actor } from '../../base/actor.ts'
import { Failure } from '../../base/errors.ts'
import type { KeyRing } from './rules.ts'

/**
 * @param authorization the header of that name: `Basic base64(public_key:token)` or `Bearer token`
 * @param isSuspect whether many wrong keys have come from the address of this request
 * @throws Failure unauthenticated, with the same message for every cause
 */
export async function authenticate(
  keys: KeyRing,
  authorization: string | undefined,
  isSuspect?: () => boolean,
): Promise<Actor> {
  const credential = readCredential(authorization ?? '')
  const actor = credential && (await keys.find(credential.token, isSuspect))
  const publicKey = credential?.publicKey
  if (!actor || (publicKey !== undefined && publicKey !== actor.name)) throw new Failure('unauthenticated')
  return actor
}

function readCredential(header: string): { token: string; publicKey?: string } | undefined {
  const [, scheme, value] = /^(Basic|Bearer) +(\S+)$/i.exec(header) ?? []
  if (scheme === undefined || value === undefined) return undefined
  if (scheme.toLowerCase() === 'bearer') return { token: value }
  const bytes = Buffer.from(value, 'base64')
  // Buffer.from skips invalid characters, so only valid Base64 encodes back to the same text.
  if (bytes.toString('base64').replace(/=+$/, '') !== value.replace(/=+$/, '')) return undefined
  const pair = bytes.toString()
  const colon = pair.indexOf(':')
  return colon < 0 ? undefined : { publicKey: pair.slice(0, colon), token: pair.slice(colon + 1) }
}

/**
 * Secrets of sources as they are stored: sealed where the service has a secret key. Without one they stand as they are, so that
 * deliveries are taken all the same.
 */
import { canSeal, isSealedAnew, seal, unseal } from '../../storage/secret-keys.ts'

const MARK = 'sealed:'
const ABOUT = 'secret of a source'

export const sealedSecret = (secret: string): string => (canSeal() ? `${MARK}${seal(secret, ABOUT)}` : secret)

/** @throws Failure secret_key */
export const openedSecret = (stored: string): string =>
  stored.startsWith(MARK) ? unseal(stored.slice(MARK.length), ABOUT) : stored

/** The same secret by the key that seals now; undefined where it is already. @throws Failure secret_key */
export function resealedSecret(stored: string): string | undefined {
  if (stored.startsWith(MARK) && isSealedAnew(stored.slice(MARK.length))) return undefined
  return sealedSecret(openedSecret(stored))
}

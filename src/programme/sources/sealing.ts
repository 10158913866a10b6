/** Secrets of sources as they are stored: sealed. Those of before may stand as they are, until they are sealed anew. */
import { seal, unseal } from '../../storage/secret-keys.ts'

export const MARK = 'sealed:'
const ABOUT = 'secret of a source'

/** @throws Failure secret_key when there is none */
export const sealedSecret = (secret: string): string => `${MARK}${seal(secret, ABOUT)}`

/** @throws Failure secret_key */
export const openedSecret = (stored: string): string =>
  stored.startsWith(MARK) ? unseal(stored.slice(MARK.length), ABOUT) : stored

/** Secrets of sources, sealed. Those of older versions are stored as they are until they are sealed. */
import { seal, unseal } from '../../storage/secret-keys.ts'

export const MARK = 'sealed:'
const ABOUT = 'secret of a source'

/** @throws Failure secret_key when there is none */
export const sealedSecret = (secret: string): string => `${MARK}${seal(secret, ABOUT)}`

/** @throws Failure secret_key */
export const openedSecret = (text: string): string =>
  text.startsWith(MARK) ? unseal(text.slice(MARK.length), ABOUT) : text

/** Secrets of sources, each sealed for its source: that of another one does not open in its place. */
import { seal, unseal } from '../../storage/secret-keys.ts'

export const aboutOf = (id: number) => `secret of source ${id}`

/** @throws Failure secret_key when there is none */
export const sealedSecret = (id: number, secret: string): string => seal(secret, aboutOf(id))

/** @returns empty for a source of the demo, which has none @throws Failure secret_key */
export const openedSecret = (id: number, sealed: string): string =>
  sealed === '' ? '' : unseal(sealed, aboutOf(id))

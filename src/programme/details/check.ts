/**
 * Checks that what is sealed can be opened: that its key is here, where any is, and where it is, that payment details are the
 * account that their record shows.
 */
import { Failure } from '../../base/errors.ts'
import type { Check } from '../../records/feature.ts'
import type { Db } from '../../storage/database.ts'
import { damagedIn } from '../../storage/resealing.ts'
import { isAnyKeyHere, isKeyName } from '../../storage/secret-keys.ts'
import { refuseLost, sealedKinds } from './rules.ts'

/** Where there is no key at all, as where a copy is checked that goes elsewhere, nobody expects it to open anything. */
async function* checkKeys(db: Db): AsyncGenerator<string> {
  if (!isAnyKeyHere()) return
  try {
    // What is no sealed text at all is named by the others.
    await refuseLost(db, isKeyName)
  } catch (error) {
    if (!(error instanceof Failure)) throw error
    yield error.message
  }
}

export const checks: readonly Check[] = [
  ...sealedKinds.map(sealed => (db: Db) => damagedIn(db, sealed)),
  checkKeys,
]

/** Checks that what is sealed can be opened, and that payment details are the account that their record shows, where their key is here. */
import type { Check } from '../../records/feature.ts'
import { damagedIn } from '../../storage/resealing.ts'
import { sealedKinds } from './rules.ts'

export const checks: readonly Check[] = sealedKinds.map(sealed => db => damagedIn(db, sealed))

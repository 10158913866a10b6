/** How long visitors wait for the database, which may be held up by others for as long as these like. */
import { DatabaseUnavailable } from '../../storage/database.ts'

/** Where what was read last will do. */
export const KNOWN_MS = 1000
/** Where nothing else is known, and who gives up gives up the credit of a click. */
export const UNKNOWN_MS = 3000

/** @throws DatabaseUnavailable where it takes longer */
export async function inTime<T>(reading: Promise<T>, ms: number): Promise<T> {
  const late = Promise.withResolvers<never>()
  const giveUp = () => late.reject(new DatabaseUnavailable('The database takes longer than a visitor waits.'))
  const timer = setTimeout(giveUp, ms)
  try {
    return await Promise.race([reading, late.promise])
  } finally {
    clearTimeout(timer)
  }
}

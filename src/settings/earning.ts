/** Earning and paying settings: as callers send and see them, and as they are stored. */
import { choice, flag } from '../base/schemas.ts'
import type { EarningSettings, Settings } from '../base/settings.ts'

export const earningSchemas = {
  unique_references: flag(
    'Whether two referrals of an affiliate cannot have the same context, reference and type, where neither context nor reference is empty. Off for shops whose references are not unique.',
  ),
  unknown_referrals: choice(
    ['keep', 'refuse'],
    'What becomes of identifiers in a payout that are no referrals here: they are kept as those of another system, or refused.',
  ),
}

export const earningNames = Object.keys(earningSchemas)

/** The changes as name and stored value. */
export function storedEarning(changes: object): [string, string][] {
  return Object.entries(changes)
    .filter(([name, value]) => earningNames.includes(name) && value !== undefined)
    .map(([name, value]) => [name, String(value)])
}

export function earningOf(values: ReadonlyMap<string, string>): EarningSettings {
  return {
    uniqueReferences: values.get('unique_references') !== 'false',
    unknownReferrals: values.get('unknown_referrals') === 'refuse' ? 'refuse' : 'keep',
  }
}

export function earningRecord({ earning }: Settings) {
  return {
    unique_references: earning.uniqueReferences,
    unknown_referrals: earning.unknownReferrals,
  }
}

/** Checks that what is sealed can be opened, and that payment details are the account that their record shows, where their key is here. */

import { sealedFactors } from '../../accounts/second-factor/codes.ts'
import { Failure } from '../../base/errors.ts'
import type { Check } from '../../records/feature.ts'
import type { Db } from '../../storage/database.ts'
import { damagedIn } from '../../storage/resealing.ts'
import { isKeyMissing } from '../../storage/secret-keys.ts'
import { sealedSecrets } from '../sources/store.ts'
import { masked, unsealedAccount } from './rules.ts'
import * as store from './store.ts'

const ROWS_AT_ONCE = 500

async function* checkSealed(db: Db): AsyncGenerator<string> {
  for (let after = 0; ; ) {
    const rows = await store.sealedAfter(db, after, ROWS_AT_ONCE)
    for (const row of rows) {
      const problem = isKeyMissing(row.sealed) ? undefined : problemOf(row)
      if (problem !== undefined) yield `payment_details ${row.id}: ${problem}`
    }
    if (rows.length < ROWS_AT_ONCE) return
    after = rows.at(-1)!.id
  }
}

function problemOf(row: Awaited<ReturnType<typeof store.sealedAfter>>[number]): string | undefined {
  try {
    return masked(unsealedAccount(row)) === row.account
      ? undefined
      : 'the sealed account is not the one that the record shows; it was changed beside the service.'
  } catch (error) {
    if (error instanceof Failure) return error.message
    throw error
  }
}

async function* checkSecrets(db: Db): AsyncGenerator<string> {
  for (const sealed of [sealedSecrets, sealedFactors]) yield* damagedIn(db, sealed)
}

export const checks: readonly Check[] = [checkSealed, checkSecrets]

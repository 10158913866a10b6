/** Checks that the reserved balances are what open payout runs have reserved, and that each item was paid once. */
import { decimalText } from '../../base/money.ts'
import type { Check } from '../../records/feature.ts'
import { loadSettings } from '../../settings/rules.ts'
import type { Db } from '../../storage/database.ts'
import { leftUnknown, wronglyHeld, wronglyPaid, wronglyReserved } from './check-store.ts'

/** Also checks that it is 0 for affiliates in no open run. */
async function* checkReserved(db: Db): AsyncGenerator<string> {
  const { decimals } = await loadSettings(db)
  for (const { affiliate_id, stated, derived } of await wronglyReserved(db)) {
    const [is, was] = [stated, derived].map(units => decimalText(BigInt(units), decimals))
    yield `balances: affiliate ${affiliate_id}, reserved: ${is} where the open items of payout runs come to ${was}.`
  }
}

async function* checkHeld(db: Db): AsyncGenerator<string> {
  for (const { id, kind } of await wronglyHeld(db)) {
    yield kind === 'item'
      ? `run_items ${id}: it is not the sum of the referrals that it has reserved.`
      : `referrals ${id}: it is reserved, and no open item of a payout run has it.`
  }
}

async function* checkPaid(db: Db): AsyncGenerator<string> {
  const { decimals } = await loadSettings(db)
  for (const { id, stated, derived } of await wronglyPaid(db)) {
    const [is, was] = [stated, derived].map(units => decimalText(BigInt(units), decimals))
    yield `run_items ${id}: ${is} is paid of it, where its payouts come to ${was}.`
  }
}

async function* checkLeft(db: Db): AsyncGenerator<string> {
  for (const { id, status } of await leftUnknown(db)) {
    yield `run_items ${id}: its outcome is unknown, and its run is ${status}: record whether it was paid or has failed.`
  }
}

export const checks: readonly Check[] = [checkReserved, checkHeld, checkPaid, checkLeft]

/** Checks that the reserved balances are what open payout runs have reserved, that each item was paid once, and as approved. */
import { decimalText } from '../../base/money.ts'
import type { Check } from '../../records/feature.ts'
import { loadSettings } from '../../settings/rules.ts'
import type { Db } from '../../storage/database.ts'
import { approvedAfter, leftUnknown, wronglyHeld, wronglyPaid, wronglyReserved } from './check-store.ts'
import { changedBeside } from './digest.ts'
import { itemPages } from './items-store.ts'
import * as store from './store.ts'

const RUNS_AT_ONCE = 100

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

async function* checkApproved(db: Db): AsyncGenerator<string> {
  for (let after = 0; ; ) {
    const runs = await approvedAfter(db, after, RUNS_AT_ONCE)
    for (const run of runs) {
      const changed = await changedBeside(run, itemPages(db, run.id))
      if (!changed) continue
      // A refused approval makes it a draft again, which may be prepared anew.
      if ((await store.findWhole(db, run.id))?.hash !== run.hash) continue
      yield changed.item
        ? `run_items ${changed.item.id}: its payee is not who was approved; it was changed beside the service.`
        : `payout_runs ${run.id}: its items are not those that hash stands for, or its execution date or its payer is another; they were changed beside the service.`
    }
    if (runs.length < RUNS_AT_ONCE) return
    after = runs.at(-1)!.id
  }
}

export const checks: readonly Check[] = [checkReserved, checkHeld, checkPaid, checkLeft, checkApproved]

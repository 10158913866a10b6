/** Checks that balances, figures, referrals and payouts agree. Each statement sees one moment, even while others write. */
import { decimalText } from '../../../base/money.ts'
import { DAY_SECONDS, dayOf, formatDay, formatTime, now } from '../../../base/time.ts'
import type { Check } from '../../../records/feature.ts'
import { loadSettings } from '../../../settings/rules.ts'
import type { Db } from '../../../storage/database.ts'
import { firstWholeDay } from '../../visits/store.ts'
import {
  affiliatesAfter,
  type Comparison,
  comparisons,
  differences,
  halfPaid,
  strays,
  visitDays,
} from './store.ts'

const AFFILIATES_AT_ONCE = 1000
const STRAYS_NAMED = 20

/** Figures of affiliates that are not amounts. */
const counts = new Set(['referrals', 'visits'])

/** What each compared figure is the sum of. */
const sources: Readonly<Record<string, string>> = {
  pending: 'the pending referrals',
  'unpaid and reserved': 'the unpaid referrals',
  paid_out: 'the paid payouts',
  'paid_out, external and difference': 'the paid referrals',
  earnings: 'the paid referrals',
  unpaid_earnings: 'the balances unpaid and reserved',
  referrals: 'the unpaid and paid referrals',
  visits: 'the visits by day',
}

async function* checkBalances(db: Db): AsyncGenerator<string> {
  yield* compare(db, comparisons.balances, figure => [`account ${figure}`, 'its transfers'])
}

async function* checkHoldings(db: Db): AsyncGenerator<string> {
  yield* compare(db, comparisons.holdings, figure => [figure, sources[figure]!])
}

async function* checkFigures(db: Db): AsyncGenerator<string> {
  yield* compare(db, comparisons.figures, figure => [figure, sources[figure]!])
}

async function* checkDays(db: Db): AsyncGenerator<string> {
  const { tracking } = await loadSettings(db)
  const kept = Math.max(dayOf(now()) - tracking.visitDays, await firstWholeDay(db))
  yield* compare(db, visitDays(kept), figure => {
    const [day = '', count = '', ...campaign] = figure.split(' ')
    const date = formatDay(Number(day) * DAY_SECONDS)
    return [`${count} of ${date} and campaign '${campaign.join(' ')}'`, 'the visits']
  })
}

async function* checkMonths(db: Db): AsyncGenerator<string> {
  // A figure is the first second of the month, and its name.
  yield* compare(db, comparisons.months, figure => {
    const [month = '', name = ''] = figure.split(' ')
    return [`${name} of the month from ${formatTime(Number(month))}`, 'the referrals']
  })
}

async function* compare(
  db: Db,
  comparison: Comparison,
  words: (figure: string) => [figure: string, source: string],
): AsyncGenerator<string> {
  const { decimals } = await loadSettings(db)
  for (let after = 0; ; ) {
    const ids = await affiliatesAfter(db, after, AFFILIATES_AT_ONCE)
    // Deleted affiliates lie between the identifiers of others, or after the last.
    const last = ids.length < AFFILIATES_AT_ONCE ? Number.MAX_SAFE_INTEGER : ids.at(-1)!
    for (const { affiliate_id, figure, stated, derived } of await differences(db, comparison, {
      after,
      last,
    })) {
      const [name, source] = words(figure)
      const isCount = comparison.isOfCounts || counts.has(figure)
      const [is, was] = [stated, derived].map(units => decimalText(units, isCount ? 0 : decimals))
      yield `${comparison.table}: affiliate ${affiliate_id}, ${name}: ${is} where ${source} come to ${was}.`
    }
    if (last === Number.MAX_SAFE_INTEGER) return
    after = last
  }
}

/** A transfer is of the record and the time of the entry that stands behind it, which is sealed. */
async function* checkEntries(db: Db): AsyncGenerator<string> {
  for (const { id, event_id, entry_id } of await strays(db, STRAYS_NAMED)) {
    const why = entry_id === null ? 'is not there' : 'is of another record or another day'
    yield `ledger_transfers ${id}: the entry of the audit log that it names, ${event_id}, ${why}; restore a backup.`
  }
}

/** A referral names the single payout that has paid it. */
async function* checkPaid(db: Db): AsyncGenerator<string> {
  for (const { referral_id, payout_id } of await halfPaid(db)) {
    yield `referrals ${referral_id}: only one of it and payout ${payout_id} says that the payout pays it; restore a backup.`
  }
}

export const checks: readonly Check[] = [
  checkBalances,
  checkHoldings,
  checkFigures,
  checkDays,
  checkMonths,
  checkPaid,
  checkEntries,
]

/** The demo's referrals and their ledger, which `check` finds as consistent as any other. */

import { sql } from 'kysely'
import type { Settings } from '../base/settings.ts'
import { DAY_SECONDS } from '../base/time.ts'
import { postPayout, postReferral } from '../programme/ledger/rules.ts'
import { lastPaid, type PaidPayout, payouts, replaceNames } from '../programme/payouts/store.ts'
import { type Referral, referral } from '../programme/referrals/referral.ts'
import { referrals } from '../programme/referrals/store.ts'
import { loadSettings } from '../settings/rules.ts'
import type { Database, Tx } from '../storage/database.ts'
import { paidElsewhere } from '../storage/migrations/earning.ts'

const STATUSES = ['pending', 'pending', 'unpaid', 'unpaid', 'unpaid', 'rejected'] as const
/** However large the demo is. */
const MOST_REFERRALS = 300
const PER_AFFILIATE = 2
/**
 * One of so many payouts, counted from the last, pays referrals of this service; earlier ones pay those of another
 * system.
 */
const PAYOUTS_PER_PAYING = 10
const MOST_PAYING = 50

interface Making {
  /** The last payout that names referrals of another system. */
  readonly after: number
  readonly random: () => number
  /** @param part how far into the demo's time, from 0 to 1 */
  readonly timeAt: (part: number) => number
}

type NewRow = Pick<Referral, 'affiliate_id' | 'amount' | 'created_at'> & {
  readonly status: 'pending' | 'unpaid' | 'rejected'
}

export async function fillReferrals(
  database: Database,
  affiliates: readonly number[],
  { after, random, timeAt }: Making,
): Promise<void> {
  const settings = await loadSettings(database.reader)
  const make = (tx: Tx, rowToInsert: NewRow) => insert(tx, rowToInsert, settings, random)
  const count = Math.min(MOST_REFERRALS, affiliates.length * PER_AFFILIATE)
  await database.transaction(async tx => {
    await database.engine.continueIdentity(tx, referral.table.name, after)
    const paying = await lastPaid(tx, count => Math.min(MOST_PAYING, Math.floor(count / PAYOUTS_PER_PAYING)))
    for (const statement of paidElsewhere(paying[0]?.id)) await sql.raw(statement).execute(tx)
    for (const payout of paying) await payReferrals(tx, payout, make)
    for (let number = 0; number < count; number += 1) {
      await make(tx, {
        affiliate_id: pick(affiliates, random),
        status: pick(STATUSES, random),
        amount: 100 + Math.floor(random() * 20_000),
        created_at: timeAt(number / count),
      })
    }
  })
}

/** Creates two referrals that add up to a payout's amount, and pays them. */
async function payReferrals(
  tx: Tx,
  { id, affiliate_id, amount, created_at }: PaidPayout,
  make: (tx: Tx, row: NewRow) => Promise<Referral>,
): Promise<void> {
  const firstShare = Math.floor(amount / 3)
  const referralsPaid: Referral[] = []
  for (const [index, share] of [firstShare, amount - firstShare].entries()) {
    const earnedAt = created_at - (2 - index) * DAY_SECONDS
    referralsPaid.push(
      await make(tx, { affiliate_id, status: 'unpaid', amount: share, created_at: earnedAt }),
    )
  }
  const paid = { status: 'paid', payout_id: id, updated_at: created_at } as const
  for (const row of referralsPaid) await referrals.update(tx, row.id, paid)
  const names = new Map(referralsPaid.map(row => [row.id, true]))
  await payouts.update(tx, id, { referrals: [...names.keys()].join(',') })
  await replaceNames(tx, id, names)
  const net = BigInt(amount)
  await postPayout(
    tx,
    referralsPaid.map(before => ({ before, after: { ...before, ...paid } })),
    { after: { affiliateId: affiliate_id, status: 'paid', amount: net, net, external: false } },
    { reason: 'payout.create', eventId: null, payoutId: id, at: created_at },
  )
}

async function insert(tx: Tx, made: NewRow, settings: Settings, random: () => number): Promise<Referral> {
  const { affiliate_id, status, amount, created_at: time } = made
  const description = `Order ${1000 + Math.floor(random() * 9000)}`
  const args = { affiliate_id, status, description, currency: settings.currency }
  const newRow = referral.newRow(args, settings, { time, actor: 0 })
  const row = await referrals.insert(tx, { ...newRow, amount })
  const cause = { reason: 'referral.create' as const, eventId: null, referralId: row.id, at: time }
  await postReferral(tx, { after: row }, cause)
  return row
}

export function pick<T>(choices: readonly T[], random: () => number): T {
  return choices[Math.floor(random() * choices.length)]!
}

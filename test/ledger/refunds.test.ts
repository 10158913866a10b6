/**
 * However a sale is refunded and disputed (in parts, as totals, in any order, again, before it is known, after it was paid, while
 * it is in a payout run), it ends at the cent of its rate for what is left. LONG=1 makes the sales many.
 */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { features } from '../../src/app.ts'
import { checkDatabase } from '../../src/operations/check/rules.ts'
import { create } from '../../src/programme/conversions/rules.ts'
import type { CreateArguments } from '../../src/programme/conversions/schema.ts'
import { postReferral } from '../../src/programme/ledger/rules.ts'
import { describeService, operatorOf } from '../harness.ts'

const SALES = process.env.LONG ? 10_000 : 40
const AT_ONCE = 10

const part = fc.record({
  cents: fc.integer({ min: 1, max: 60_000 }),
  as: fc.constantFrom('refund', 'total', 'lost', 'won'),
})
const anyHistory = fc.record({
  cents: fc.integer({ min: 0, max: 100_000 }),
  taxCents: fc.integer({ min: 0, max: 5000 }),
  rate: fc.integer({ min: 1, max: 9999 }),
  parts: fc.array(part, { minLength: 1, maxLength: 5 }),
  whole: fc.boolean(),
  order: fc.array(fc.nat(1_000_000), { minLength: 12, maxLength: 12 }),
  /** When it is paid or reserved, if it is: behind so many reports. */
  after: fc.nat(12),
  outcome: fc.constantFrom('nothing', 'nothing', 'paid', 'reserved'),
})
/** The tax is part of what was paid. */
const history = anyHistory.map(story => ({ ...story, taxCents: Math.min(story.taxCents, story.cents) }))
type History = typeof history extends fc.Arbitrary<infer H> ? H : never

/** Half to even, of a fraction that is not negative. */
function nearest(numerator: bigint, denominator: bigint): bigint {
  const [below, rest] = [numerator / denominator, 2n * (numerator % denominator)]
  return rest > denominator || (rest === denominator && below % 2n === 1n) ? below + 1n : below
}

/** What the sale should be worth in the end, by another way than the service has. */
function expected({ cents, taxCents, rate }: History, parts: History['parts']): bigint {
  const sums = { refund: 0, total: 0, lost: 0 }
  for (const { cents, as } of parts) {
    if (as === 'refund' || as === 'lost') sums[as] += cents
    if (as === 'total') sums.total = Math.max(sums.total, cents)
  }
  const taken = Math.max(sums.refund, sums.total) + sums.lost
  if (cents === 0) return 0n
  const base = BigInt(Math.max(0, cents - taxCents))
  const left = BigInt(Math.max(0, cents - taken))
  return nearest(base * BigInt(rate) * left, 10_000n * BigInt(cents))
}

describeService('refunds and disputes', service => {
  let number = 0

  async function play(story: History): Promise<void> {
    const by = operatorOf(service().database)
    const name = `sale-${++number}`
    const { id: affiliateId } = await service().newAffiliate(name, {
      status: 'active',
      rate: story.rate / 100,
      rate_type: 'percentage',
    })
    // All of it, as a last refund that is larger than the rest.
    const parts = story.whole ? [...story.parts, { cents: 100_000, as: 'refund' as const }] : story.parts
    const reports: Omit<CreateArguments, 'reference'>[] = [
      {
        kind: 'sale' as const,
        amount: story.cents / 100,
        tax: story.taxCents / 100,
        affiliate_id: affiliateId,
      },
      ...parts.flatMap(({ cents, as }, place): Omit<CreateArguments, 'reference'>[] => {
        const amount = cents / 100
        if (as === 'total') return [{ kind: 'refund', cumulative: true, amount }]
        if (as === 'refund') return [{ kind: 'refund', part: `r${place}`, amount }]
        const dispute = { kind: 'dispute' as const, part: `d${place}`, amount }
        return as === 'lost' ? [dispute] : [dispute, { kind: 'dispute_won', part: `d${place}` }]
      }),
    ]
    const shuffled = [...reports, ...reports.slice(0, 3)]
      .map((report, place) => ({ report, at: story.order[place % 12]! + place }))
      .sort((a, b) => a.at - b.at)
    for (const [place, { report }] of shuffled.entries()) {
      // Under one name of the payment or another, and always with both.
      const names = place % 2 === 0 ? [name, `ch-${name}`] : [`ch-${name}`, name]
      await create(by, { context: 'random', reference: names[0]!, references: [names[1]!], ...report })
      if (place === story.after) await settleOne(affiliateId, story.outcome)
    }
    const { database } = service()
    const rows = await database.reader
      .selectFrom('referrals')
      .select(['amount', 'status'])
      .where('affiliate_id', '=', affiliateId)
      .execute()
    const stands = rows
      .filter(({ status }) => status !== 'rejected')
      .reduce((sum, row) => sum + row.amount, 0)
    assert.equal(BigInt(stands), expected(story, parts), JSON.stringify({ rows, story }))
  }

  /** Pays or reserves what the affiliate is owed for the sale. */
  async function settleOne(affiliateId: number, how: History['outcome']): Promise<void> {
    if (how === 'nothing') return
    const { body } = await service().get(`/referrals?affiliate_id=${affiliateId}&status=unpaid&type=sale`)
    const [open] = body
    if (!open) return
    if (how === 'paid') {
      await service().newPayout(affiliateId, { referrals: [open.id] })
      return
    }
    await moveToItem(open.id, 1)
  }

  /** As approving and cancelling a run do, without the run. */
  async function moveToItem(id: number, run_item_id: number): Promise<void> {
    await service().database.transaction(async tx => {
      const before = await tx
        .selectFrom('referrals')
        .selectAll()
        .where('id', '=', id)
        .executeTakeFirstOrThrow()
      await tx.updateTable('referrals').set({ run_item_id }).where('id', '=', id).execute()
      const reason = run_item_id === 0 ? ('payout_run.cancel' as const) : ('payout_run.approve' as const)
      const after = { ...before, run_item_id }
      await postReferral(tx, { before, after }, { reason, eventId: null, referralId: id })
    })
  }

  test(`${SALES} sales end at the cent, and the ledger agrees`, async () => {
    const numRuns = Math.ceil(SALES / AT_ONCE)
    const assertAll = () =>
      fc.assert(fc.asyncProperty(history, play), { numRuns, endOnFailure: !process.env.LONG })
    await Promise.all(Array.from({ length: AT_ONCE }, assertAll))
    const { database } = service()
    const reserved = database.reader.selectFrom('referrals').select('id').where('run_item_id', '!=', 0)
    for (const { id } of await reserved.execute()) await moveToItem(id, 0)
    const { problems } = await checkDatabase(database, features)
    assert.deepEqual(problems, [])
  })
})

/** Whatever is done to referrals and payouts, every figure is what the model says it is. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import fc from 'fast-check'
import { engines, serviceOn } from '../harness.ts'
import { histories, run } from './history.ts'
import { kindsOfTransfer, programmeOn } from './programme.ts'

const OPERATIONS = process.env.LONG ? 20_000 : 2000
/** How often each kind of transfer has to occur. */
const LEAST = process.env.LONG ? 100 : 5
const LENGTH = 80
/** Histories that are run at the same moment, each with affiliates of its own. */
const AT_ONCE = 10

/** Everything that can go from one account to another without a payout run. */
const kinds = [
  'commission -> pending',
  'pending -> commission',
  'commission -> unpaid',
  'unpaid -> commission',
  'commission -> external',
  'external -> commission',
  'pending -> unpaid',
  'unpaid -> pending',
  'pending -> external',
  'unpaid -> external',
  'external -> unpaid',
  'unpaid -> paid_out',
  'paid_out -> unpaid',
  'external -> paid_out',
  'paid_out -> external',
  'difference -> paid_out',
  'paid_out -> difference',
  'written_off -> unpaid',
  'unpaid -> written_off',
]

for (const engine of Object.keys(engines)) {
  describe(`generated histories (${engine})`, () => {
    test(`${OPERATIONS} operations: every figure is what the model says`, async t => {
      const service = await serviceOn(await engines[engine]!())
      t.after(() => service.close())
      const programme = await programmeOn(service.database, new URL('../../src/', import.meta.url))
      let done = 0
      let refused = 0
      const property = () =>
        fc.asyncProperty(histories(LENGTH), async history => {
          const result = await run(programme, history)
          done += result.done
          refused += result.refused
        })
      const numRuns = Math.ceil(OPERATIONS / (LENGTH * 0.75) / AT_ONCE)
      const checks = Array.from({ length: AT_ONCE }, (_, index) =>
        fc.assert(property(), { numRuns, endOnFailure: !process.env.LONG, seed: Date.now() + index }),
      )
      await Promise.all(checks)
      t.diagnostic(`${done} operations, ${refused} of them refused`)
      assert.ok(done >= OPERATIONS * 0.8, `${done}`)
      assert.ok(refused < done / 2, `${refused} of ${done} were refused`)
      const counts = await kindsOfTransfer(service.database)
      for (const kind of kinds) assert.ok((counts.get(kind) ?? 0) >= LEAST, `${kind}: ${counts.get(kind)}`)
    })
  })
}

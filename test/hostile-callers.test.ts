/** Callers who ask for all that they can: what they hold up is their own work, and ends with them. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { describeService } from './harness.ts'
import { addPayouts } from './many-payouts.ts'

/** More than the service has under way at once when requests take long. */
const CONNECTIONS = 400
const PAYOUTS = 10_000

describeService(
  'one key with hundreds of long reads',
  service => {
    test('503 for some of them, and an answer for every other caller', async t => {
      const { id } = await service().newAffiliate('much')
      await addPayouts(service().database, { count: PAYOUTS, affiliateId: id, owner: 1 })
      const other = await service().newKey(['affiliates.read', 'payouts.create', 'payouts.read'])
      const admin = await service().admin()
      const attacker: number[] = []
      let hasGone = false
      let asked = PAYOUTS
      const attack = Array.from({ length: CONNECTIONS }, async () => {
        while (!hasGone) {
          asked += 1
          // No two alike: an answer that is kept is no work.
          const { status } = await service().get(`/payouts?number=10&orderby=affiliate_name&exclude=${asked}`)
          attacker.push(status)
          if (status === 503) await delay(1000)
        }
      })
      t.after(() => Promise.all(attack))
      await delay(2000)
      const seen: number[] = []
      for (let number = 0; number < 10; number += 1) {
        const replies = await Promise.all([
          service().get(`/affiliates/${id}`, { key: other }),
          service().post('/payouts', { affiliate_id: id, amount: 1 }, { key: other }),
          service().get('/payouts?number=1&orderby=affiliate_name', { key: other }),
          admin.get(`/affiliates/${id}`),
        ])
        seen.push(...replies.map(({ status }) => status))
        await delay(100)
      }
      hasGone = true
      assert.deepEqual([...new Set(seen)].sort(), [200, 201])
      assert.ok(attacker.includes(503))
    })
  },
  { only: 'PostgreSQL' },
)

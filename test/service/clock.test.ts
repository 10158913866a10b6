/** Somebody sets the clock of the machine back while the service runs. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { revokeKey } from '../../src/accounts/keys/rules.ts'
import { countAttempt } from '../../src/accounts/sessions/attempts.ts'
import { changeSettings } from '../../src/settings/rules.ts'
import { assertFailure, describeService, openDatabase, operatorOf } from '../harness.ts'

/** What another process changed counts after this. */
const LONG_AFTER_MS = 1000
const LIMIT = 5

function setBack(t: TestContext, seconds: number): void {
  t.mock.timers.enable({ apis: ['Date'], now: Date.now() - seconds * 1000 })
}

describeService(
  'the clock is set back',
  service => {
    test('401 - a key that another process revokes still stops working within a second', async t => {
      const elsewhere = await openDatabase(service().databaseUrl)
      t.after(() => elsewhere.close())
      const key = await service().newKey(['affiliates.read', 'payouts.create'])
      assert.equal((await service().get('/affiliates', { key })).status, 200)
      setBack(t, 600)
      await revokeKey(operatorOf(elsewhere), key.publicKey)
      await delay(LONG_AFTER_MS)
      assertFailure(await service().get('/affiliates', { key }), 401, 'rest_forbidden')
      assertFailure(await service().post('/payouts', { affiliate_id: 1 }, { key }), 401, 'rest_forbidden')
    })

    test('200 - settings that another process changes still count within a second', async t => {
      const elsewhere = await openDatabase(service().databaseUrl)
      t.after(() => elsewhere.close())
      const key = await service().newKey(['affiliates.create', 'affiliates.read'])
      const made = await service().post(
        '/affiliates',
        { create_user: true, payment_email: 'rate@example.com' },
        { key },
      )
      const rate = async () =>
        (await service().get(`/affiliates/${made.body.id}?effective=1`, { key })).body.effective.rate
      assert.equal(await rate(), '20')
      setBack(t, 600)
      await changeSettings(operatorOf(elsewhere), { default_rate: 33 })
      await delay(LONG_AFTER_MS)
      assert.equal(await rate(), '33')
    })

    test('429 - who has reached the limit waits for a minute at most', async t => {
      const key = await service().newKey(['affiliates.read'])
      for (let number = 0; number < LIMIT; number += 1) await service().get('/affiliates', { key })
      setBack(t, 3600)
      const refused = await service().get('/affiliates', { key })
      assertFailure(refused, 429, 'rest_too_many_requests')
      assert.ok(Number(refused.headers.get('retry-after')) <= 60, refused.headers.get('retry-after')!)
    })

    test('429 - who has failed to log in waits for a quarter of an hour at most', async t => {
      const counters = [{ name: 'login clock', limit: 1 }]
      await countAttempt(service().database, counters)
      setBack(t, 3600)
      for (const seconds of [0, 60]) {
        t.mock.timers.setTime(Date.now() + seconds * 1000)
        const retry_after = 900 - seconds
        await assert.rejects(countAttempt(service().database, counters), { data: { retry_after } })
      }
      t.mock.timers.setTime(Date.now() + 841_000)
      await countAttempt(service().database, counters)
    })

    test('401 - a session that was opened while the clock was far ahead, and not one of a moment', async t => {
      const admin = await service().admin()
      const statusAfter = async (seconds: number) => {
        t.mock.timers.reset()
        setBack(t, seconds)
        return (await admin.get('/session')).status
      }
      assert.equal(await statusAfter(3600), 200)
      assert.equal(await statusAfter(86_400), 401)
    })
  },
  { rateLimit: LIMIT },
)

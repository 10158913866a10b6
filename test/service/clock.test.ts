/** Somebody sets the clock of the machine back while the service runs. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { revokeKey } from '../../src/accounts/keys/rules.ts'
import { countAttempt } from '../../src/accounts/sessions/attempts.ts'
import { hashToken } from '../../src/accounts/tokens.ts'
import { changeSettings } from '../../src/settings/rules.ts'
import {
  assertFailure,
  BROWSER,
  describeService,
  openDatabase,
  operatorOf,
  startService,
} from '../harness.ts'

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

    test('201, then replayed - a request that is sent again while the clock is a day ahead', async t => {
      const { id } = await service().newAffiliate('once')
      const send = async () => {
        const headers = { 'idempotency-key': 'while the clock is ahead' }
        const sent = await service().post('/referrals', { affiliate_id: id, amount: 10 }, { headers })
        return [sent.status, sent.body.id, sent.headers.get('idempotent-replayed')]
      }
      const [status, referral] = await send()
      assert.equal(status, 201)
      for (const hours of [25, 0]) {
        t.mock.timers.reset()
        setBack(t, -hours * 3600)
        assert.deepEqual(await send(), [201, referral, 'true'], `${hours} hours ahead`)
      }
    })

    test('200 - who was logged in before somebody logs in while the clock is far ahead', async t => {
      const admin = await service().admin()
      setBack(t, -400 * 86_400)
      await service().admin()
      t.mock.timers.reset()
      assert.equal((await admin.get('/session')).status, 200)
      const { secrets } = admin
      const browsers = await service()
        .database.reader.selectFrom('devices')
        .select('token_hash')
        .where('token_hash', '=', hashToken(secrets[1]!))
        .execute()
      assert.equal(browsers.length, 1)
    })
  },
  { rateLimit: LIMIT },
)

/** As often as the service looks which holds are over. */
const HOLDS_EVERY_MS = 20_000
const YEARS_MS = 600 * 86_400_000

test('a clock that is set far ahead by mistake ends no hold and no click token', async t => {
  t.mock.timers.enable({ apis: ['setInterval'] })
  let aheadMs = 0
  const realNow = Date.now
  t.mock.method(Date, 'now', () => realNow() + aheadMs)
  const service = await startService()
  t.after(() => service.close())
  await changeSettings(operatorOf(service.database), { programme_page: 'https://shop.example/' })
  const { id } = await service.newAffiliate('ahead', { status: 'active' })
  const hold_until = new Date(Date.now() + 86_400_000).toISOString()
  const held = await service.post('/referrals', { affiliate_id: id, amount: 10, hold_until })
  const status = async () => (await service.get(`/referrals/${held.body.id}`)).body.status
  assert.equal(await status(), 'pending')
  const followed = await fetch(`${service.url}/r/${id}`, {
    redirect: 'manual',
    headers: { 'user-agent': BROWSER },
  })
  const last = URL.parse(followed.headers.get('location')!)!.searchParams.get('aff_click')
  const setAhead = async (ms: number) => {
    aheadMs = ms
    t.mock.timers.tick(HOLDS_EVERY_MS)
    await delay(LONG_AFTER_MS)
  }
  await setAhead(YEARS_MS)
  assert.equal(await status(), 'pending')
  await setAhead(0)
  assert.equal(await status(), 'pending')
  const sale = { kind: 'sale', context: 'shop', reference: 'after', amount: 50, click: { last } }
  const { body } = await service.post('/conversions', sale)
  assert.equal(body.conversion.affiliate_id, id, JSON.stringify(body.explanation))
  const review = await service.patch(`/referrals/${held.body.id}`, {
    hold_until: new Date(Date.now() - 1000).toISOString(),
  })
  assert.equal(review.status, 200, JSON.stringify(review.body))
  await setAhead(0)
  assert.equal(await status(), 'unpaid')
})

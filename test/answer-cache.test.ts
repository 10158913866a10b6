/** Answers that are kept: whose they are, and how old. That nodes see each other's writes is in `nodes.test.ts`. */
import assert from 'node:assert/strict'
import { request } from 'node:http'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { pino } from 'pino'
import { buildApp } from '../src/app.ts'
import { describeService, type Key, type Service, startService } from './harness.ts'

/** With a Host header that may be anything. */
function ask({ url }: Service, path: string, host: string, key: Key): Promise<{ status: number; body: any }> {
  const { promise, resolve, reject } = Promise.withResolvers<{ status: number; body: any }>()
  const headers = { host, authorization: `Bearer ${key.token}` }
  request(`${url}${path}`, { headers, path }, async response => {
    const chunks: Buffer[] = []
    for await (const chunk of response) chunks.push(chunk)
    resolve({ status: response.statusCode!, body: JSON.parse(Buffer.concat(chunks).toString()) })
  })
    .on('error', reject)
    .end()
  return promise
}

describeService('answers that are kept', service => {
  test('no header makes one request look like another', async () => {
    const { id } = await service().newAffiliate('kept')
    await service().newPayout(id, { payout_method: 'secretbank' })
    const reader = await service().newKey(['affiliates.read'])
    const all = service().key
    const payouts = '/v1/payouts?x=/v1/affiliates'
    for (let round = 0; round < 3; round += 1) {
      assert.equal((await ask(service(), payouts, 'h.test', all)).body[0].payout_method, 'secretbank')
      const tricked = await ask(service(), '/v1/affiliates', 'h.test/v1/payouts?x=', reader)
      assert.equal(tricked.body[0].payment_email, 'kept@example.com')
      assert.equal((await ask(service(), payouts, 'h.test', reader)).status, 403)
    }
    for (let round = 0; round < 3; round += 1) {
      const headers = { 'x-forwarded-proto': 'OPTIONS http' }
      assert.ok(Array.isArray((await service().get('/affiliates', { headers })).body))
      assert.equal((await service().send('OPTIONS', '/affiliates')).body.namespace, 'v1')
    }
  })
})

test('what was read before a request arrived is read again for it', async t => {
  const service = await startService()
  const { id } = await service.newAffiliate('before')
  const app = await buildApp(service.database, {
    bodyLimitBytes: 1_048_576,
    corsOrigins: [],
    rateLimit: 0,
    trustProxy: 0,
    logger: pino({ level: 'fatal' }),
  })
  const other = new DatabaseSync(service.databaseUrl.slice('sqlite:'.length))
  t.after(async () => {
    other.close()
    await app.close()
    await service.close()
  })
  const get = () =>
    app.inject({ url: `/v1/affiliates/${id}`, headers: { authorization: `Bearer ${service.key.token}` } })
  for (let round = 0; round < 3; round += 1)
    assert.equal((await get()).json().payment_email, 'before@example.com')
  // In a turn of the timers, as the seals of the audit log are: it ends after the next requests have arrived.
  const seen = await new Promise<string>((resolve, reject) => {
    setTimeout(async () => {
      await service.database.reader.selectFrom('affiliates').select('id').execute()
      other.exec(`UPDATE affiliates SET payment_email = 'after@example.com' WHERE id = ${id}`)
      get().then(response => resolve(response.json().payment_email), reject)
    }, 5)
  })
  assert.equal(seen, 'after@example.com')
})

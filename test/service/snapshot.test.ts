/** What a request reads is what was committed before it arrived, by this process or by another. */
import assert from 'node:assert/strict'
import { createHmac } from 'node:crypto'
import { DatabaseSync } from 'node:sqlite'
import { type TestContext, test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import { buildApp } from '../../src/app.ts'
import { giveSecretKey, startService } from '../harness.ts'
import { slowDisk } from '../load.ts'

const SECRET = 'whsec_of_the_test'

giveSecretKey()

async function start(t: TestContext) {
  const service = await startService()
  const app = await buildApp(service.database, {
    bodyLimitBytes: 1_048_576,
    corsOrigins: [],
    rateLimit: 0,
    readSeconds: 20,
    trustProxy: 0,
    logger: pino({ level: 'fatal' }),
  })
  // Without patience: a wait here would hold up the turn in which the service ends a commit of its own.
  const other = new DatabaseSync(service.databaseUrl.slice('sqlite:'.length), { timeout: 0 })
  t.after(async () => {
    other.close()
    await app.close()
    await service.close()
  })
  return { service, app, other }
}

test('what was read before a request arrived is read again for it', async t => {
  const { service, app, other } = await start(t)
  const { id } = await service.newAffiliate('before')
  const get = () =>
    app.inject({ url: `/v1/affiliates/${id}`, headers: { authorization: `Bearer ${service.key.token}` } })
  for (let round = 0; round < 3; round += 1)
    assert.equal((await get()).json().payment_email, 'before@example.com')
  // In a turn of the timers, as the seals of the audit log are: it ends after the next requests have arrived.
  const seen = await new Promise<string>((resolve, reject) => {
    const attempt = async () => {
      await service.database.reader.selectFrom('affiliates').select('id').execute()
      if (!changed(other, `UPDATE affiliates SET payment_email = 'after@example.com' WHERE id = ${id}`))
        setTimeout(attempt, 5)
      else get().then(response => resolve(response.json().payment_email), reject)
    }
    setTimeout(attempt, 5)
  })
  assert.equal(seen, 'after@example.com')
})

test('a delivery to a source sees what another process has written while a commit is put on the disk', async t => {
  const { service, app, other } = await start(t)
  const source = { name: 'shop', type: 'generic', secret: SECRET, mapping: { kind: '/kind' } }
  const { id } = (await service.post('/sources', source)).body
  const deliver = () =>
    app.inject({
      method: 'POST',
      url: `/v1/sources/${id}/deliveries`,
      headers: { 'x-signature': createHmac('sha256', SECRET).update('{}').digest('hex') },
      body: '{}',
    })
  assert.equal((await deliver()).statusCode, 200)
  const isSlow = slowDisk()
  const first = service.post('/groups', { name: 'first' })
  const committed = () => other.prepare('SELECT id FROM groups').all().length > 0
  while (!committed()) await setImmediate()
  while (!changed(other, `UPDATE sources SET status = 'inactive' WHERE id = ${id}`)) await setImmediate()
  assert.equal((await deliver()).statusCode, 401)
  await Promise.all([isSlow, first])
})

/** Whether it could be changed now; not when somebody else is writing. */
function changed(database: DatabaseSync, change: string): boolean {
  try {
    database.exec(change)
    return true
  } catch (error) {
    if (error instanceof Error && error.message === 'database is locked') return false
    throw error
  }
}

/** What a request reads is what was committed before it arrived, by this process or by another. */
import assert from 'node:assert/strict'
import { DatabaseSync } from 'node:sqlite'
import { test } from 'node:test'
import { pino } from 'pino'
import { buildApp } from '../../src/app.ts'
import { startService } from '../harness.ts'

test('what was read before a request arrived is read again for it', async t => {
  const service = await startService()
  const { id } = await service.newAffiliate('before')
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
  const get = () =>
    app.inject({ url: `/v1/affiliates/${id}`, headers: { authorization: `Bearer ${service.key.token}` } })
  for (let round = 0; round < 3; round += 1)
    assert.equal((await get()).json().payment_email, 'before@example.com')
  // In a turn of the timers, as the seals of the audit log are: it ends after the next requests have arrived.
  const seen = await new Promise<string>((resolve, reject) => {
    const attempt = async () => {
      await service.database.reader.selectFrom('affiliates').select('id').execute()
      if (!changed(other, id)) setTimeout(attempt, 5)
      else get().then(response => resolve(response.json().payment_email), reject)
    }
    setTimeout(attempt, 5)
  })
  assert.equal(seen, 'after@example.com')
})

/** Whether the address could be changed now; not when somebody else is writing. */
function changed(database: DatabaseSync, id: number): boolean {
  try {
    database.exec(`UPDATE affiliates SET payment_email = 'after@example.com' WHERE id = ${id}`)
    return true
  } catch (error) {
    if (error instanceof Error && error.message === 'database is locked') return false
    throw error
  }
}

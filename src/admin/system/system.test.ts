import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeService } from '../../../test/harness.ts'
import { features } from '../../app.ts'

/** Every kind of record is counted. */
const none = Object.fromEntries(features.map(({ kind }) => [kind.table.name, 0]))

describeService('system', service => {
  test('200 - version, engine, size, counts, uptime', async () => {
    const { id } = await service().newAffiliate('counted')
    await service().newPayout(id)
    const admin = await service().admin()
    const askedAt = Date.now()
    const { status, body } = await admin.get('/system')
    assert.equal(status, 200)
    const { database_size_bytes, uptime_seconds, started, ...rest } = body
    assert.deepEqual(rest, {
      version: (await admin.get('/session')).body.version,
      node: process.versions.node,
      engine: service().database.engine.name,
      counts: { ...none, users: 2, affiliates: 1, links: 1, payouts: 1, keys: 1, click_keys: 0 },
    })
    assert.ok(database_size_bytes > 50_000)
    // Each is rounded down to a second.
    const answeredAt = Date.parse(`${started}Z`) + uptime_seconds * 1000
    assert.ok(answeredAt > askedAt - 2000 && answeredAt <= Date.now(), `${askedAt} ${answeredAt}`)
  })
})

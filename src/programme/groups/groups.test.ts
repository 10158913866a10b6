import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { assertFailure, describeService } from '../../../test/harness.ts'

describeService('groups that records refer to', service => {
  test('409 - a record that is neither an affiliate nor a rule is not called one', async () => {
    const { database } = service()
    const { id } = (await service().post('/groups', { name: 'of a banner' })).body
    await database.transaction(async tx => {
      await sql`CREATE TABLE banners (id BIGINT PRIMARY KEY, group_id BIGINT REFERENCES groups (id))`.execute(
        tx,
      )
      await sql`INSERT INTO banners (id, group_id) VALUES (1, ${id})`.execute(tx)
    })
    const reply = await service().delete(`/groups/${id}`)
    assertFailure(reply, 409, 'rest_record_in_use')
    assert.equal(reply.body.message, 'Other records belong to it: delete those first.')
  })
})

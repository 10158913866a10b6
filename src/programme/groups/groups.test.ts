import assert from 'node:assert/strict'
import { test } from 'node:test'
import { sql } from 'kysely'
import { assertFailure, describeService } from '../../../test/harness.ts'
import { schema } from '../../app.ts'
import { kind } from '../../records/kind.ts'
import { optionalReference } from '../../records/kinds-of-field.ts'
import { problemsOfReferences } from '../../records/store.ts'

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

describeService(
  'groups that are deleted at the same moment',
  service => {
    const newGroup = async (name: string) => (await service().post('/groups', { name })).body.id
    const params = { group_id: 'must be the identifier of an existing group, or 0.' }

    /** @returns what comes of work that began while the group was being deleted */
    async function whileDeleting<T>(id: number, work: () => Promise<T>): Promise<T> {
      const { database } = service()
      const { outcome } = await database.transaction(async tx => {
        await tx.deleteFrom('groups').where('id', '=', id).execute()
        const outcome = work()
        const waiting = sql`SELECT 1 FROM pg_stat_activity
          WHERE datname = current_database() AND wait_event_type = 'Lock'`
        while ((await waiting.execute(database.reader)).rows.length === 0);
        return { outcome }
      })
      return outcome
    }

    test('400 - an affiliate who is created, or edited', async () => {
      const [first, second] = [await newGroup('first'), await newGroup('second')]
      const { id } = await service().newAffiliate('joins')
      const fresh = { create_user: true, payment_email: 'late@example.com', group_id: first }
      for (const reply of [
        await whileDeleting(first, () => service().post('/affiliates', fresh)),
        await whileDeleting(second, () => service().patch(`/affiliates/${id}`, { group_id: second })),
      ]) {
        assertFailure(reply, 400, 'rest_invalid_param')
        assert.deepEqual(reply.body.data.params, params)
      }
    })

    test('400 - an affiliate among many', async () => {
      const id = await newGroup('third')
      const line = { create_user: true, payment_email: 'line@example.com', group_id: id }
      const headers = { 'content-type': 'application/x-ndjson' }
      const { body } = await whileDeleting(id, () =>
        service().post('/affiliates', JSON.stringify(line), { headers }),
      )
      assert.deepEqual(JSON.parse(body).data.params, params)
    })

    test('a record of any kind is told so', async () => {
      const fields = { group_id: optionalReference('groups', 'The group that it is for') }
      const banner = kind({ name: 'banner', table: 'banners', fields })
      const group_id = await newGroup('fourth')
      const problems = await whileDeleting(group_id, () =>
        service().database.transaction(tx => problemsOfReferences(tx, schema, banner as never, { group_id })),
      )
      assert.deepEqual(problems, params)
    })
  },
  { only: 'PostgreSQL' },
)

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { write } from '../src/events/write.ts'
import { engines, openDatabase, operatorOf } from './harness.ts'
import { refusingUnlogged } from './unlogged.ts'

test('a transaction that changes a record and logs nothing, or not whom it is about, is refused (SQLite)', async t => {
  const fresh = await engines.SQLite!()
  t.after(fresh.remove)
  const database = await openDatabase(fresh.url)
  t.after(() => database.close())
  const watched = await refusingUnlogged(database)
  const user = {
    ...{
      login: 'ada',
      login_key: 'ada',
      email: 'ada@example.com',
      email_key: 'ada@example.com',
      role: '' as const,
    },
    ...{ first_name: '', last_name: '', display_name: 'Ada', display_name_key: 'ada', password_hash: '' },
    ...{ registered_at: 1, updated_at: 1 },
  }
  const key = {
    ...{
      public_key: 'p',
      token_hash: 'h',
      user_id: 1,
      name: 'n',
      name_key: 'n',
      permissions: '',
      created_at: 1,
    },
    ...{ last_used_at: null, expires_at: null, revoked_at: null },
  }
  const unlogged = (table: string) => new RegExp(`changed ${table} and logged nothing`)
  const insert = () => watched.transaction(tx => tx.insertInto('users').values(user).execute())
  await assert.rejects(insert(), unlogged('users'))
  await write(operatorOf(watched), async tx => {
    await tx.insertInto('users').values(user).execute()
    await tx.insertInto('api_keys').values(key).execute()
    tx.log('user.create', 1)
  })
  const edit = (change: { last_name?: string; display_name?: string }) =>
    watched.transaction(tx => tx.updateTable('users').set(change).execute())
  await assert.rejects(edit({ last_name: 'Lovelace' }), unlogged('users'))
  await edit({ display_name: 'Ada' })
  const use = (change: { last_used_at?: number; revoked_at?: number }) =>
    watched.transaction(tx => tx.updateTable('api_keys').set(change).execute())
  await use({ last_used_at: 5 })
  await assert.rejects(use({ last_used_at: 6, revoked_at: 6 }), unlogged('api_keys'))
  await assert.rejects(
    watched.background().transaction(tx => tx.deleteFrom('api_keys').execute()),
    unlogged('api_keys'),
  )
  const paying = (note: string, person?: number) =>
    write(operatorOf(watched), async tx =>
      tx.log('payout.create', 1, { after: { note }, ...(person && { person }) }),
    )
  await assert.rejects(paying('By cheque.'), /event payout.create has words about a person, and names none/)
  await paying('By cheque.', 1)
  await paying('')
})

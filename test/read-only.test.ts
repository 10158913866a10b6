/** Commands on a PostgreSQL database that takes no writes, as a standby does. */
import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { engines, giveSecretKey, runCommand, serviceOn, temporaryFolder } from './harness.ts'
import { execute } from './postgres.ts'

giveSecretKey()

test('0 - commands that only read; 1 - others, which say what is wrong', { timeout: 120_000 }, async t => {
  const service = await serviceOn(await engines.PostgreSQL!())
  const folder = await temporaryFolder()
  t.after(async () => {
    await service.close()
    await folder.remove()
  })
  const { databaseUrl } = service
  await service.newAffiliate('ada')
  assert.equal((await service.post('/referrals', { affiliate_id: 1, amount: 5 })).status, 201)
  assert.equal((await service.post('/customers', { email: 'bob@example.com' })).status, 201)
  const prepared = await service.post('/payout-runs', { method: 'csv' })
  assert.equal(prepared.status, 201, JSON.stringify(prepared.body))
  const command = (...args: string[]) => runCommand([...args, '--database', databaseUrl])
  const { stdout } = await command('users', 'list', '--json')
  const login = JSON.parse(stdout).users[0].login
  const database = new URL(databaseUrl).pathname.slice(1)
  await execute(databaseUrl, `ALTER DATABASE ${database} SET default_transaction_read_only = on`)
  for (const args of [
    ['users', 'list'],
    ['users', 'export', login],
    ['customers', 'export', '1'],
    ['keys', 'list'],
    ['settings', 'get'],
    ['runs', 'list'],
    ['runs', 'show', '1'],
    ['runs', 'reconcile', '1'],
    ['statement', '1', '--from', '2020-01-01', '--to', '2099-01-01'],
    ['ledger', join(folder.path, 'ledger.csv')],
    ['audit', 'export'],
    ['audit', 'verify'],
    ['check'],
  ]) {
    const { code, stdout, stderr } = await command(...args)
    assert.deepEqual([code, stderr], [0, ''], args.join(' '))
    assert.notEqual(stdout, '', args.join(' '))
  }
  for (const args of [['migrate'], ['settings', 'set', 'default_rate', '5']]) {
    const { code, stderr } = await command(...args)
    assert.equal(code, 1)
    assert.match(stderr, /^error: The database takes no writes, as a standby does, .*\n$/)
  }
})

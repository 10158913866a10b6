/** Runs whose sums are larger than a JavaScript number holds. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { engines, runCommand, type Service, startService } from '../../../test/harness.ts'

const MOST = 999_999_999_999.99

/** An answer as it is written: to parse it would round what is looked at. */
async function textOf({ url, key }: Service, path: string): Promise<string> {
  return (await fetch(`${url}/v1${path}`, { headers: { authorization: `Bearer ${key.token}` } })).text()
}

for (const [engine, currency, owed, text] of [
  ['PostgreSQL', 'EUR', '119999999999998.8', '119999999999998.80'],
  ['SQLite', 'KWD', '12000000000000.12', '12000000000000.120'],
] as const) {
  test(`${engine}: who is owed more ${currency} than a payment may be is left out with all that is owed`, async t => {
    const service = await startService(engine)
    t.after(() => service.close())
    await (await service.admin()).patch('/settings', { currency })
    const [large, small] = await Promise.all(
      ['large', 'small'].map(name => service.newAffiliate(name, { status: 'active' })),
    )
    const amount = currency === 'EUR' ? MOST : 100_000_000_000.001
    for (let index = 0; index < 120; index += 1) {
      const reply = await service.post('/referrals', { affiliate_id: large!.id, amount, status: 'unpaid' })
      assert.equal(reply.status, 201, JSON.stringify(reply.body))
    }
    await service.post('/referrals', { affiliate_id: small!.id, amount: 7, status: 'unpaid' })
    const { body: run } = await service.post('/payout-runs')
    const path = `/payout-runs/${run.id}`
    const items = await textOf(service, `${path}/items?reason=too_large`)
    assert.match(items, new RegExp(`"amount":${owed.replace('.', '\\.')},`))
    const { body: csv } = await service.get(`${path}/reconciliation/csv`)
    assert.match(csv, new RegExp(`\r\n${run.id},excluded,too_large,1,${text},${currency}\r\n`))
    const approval = await service.post(`${path}/approve`, { hash: run.hash })
    assert.equal(approval.body.status, 'approved', JSON.stringify(approval.body))
    assert.equal((await service.get(`${path}/files/csv`)).status, 200)
    const shown = await runCommand(['runs', 'show', String(run.id), '--database', service.databaseUrl])
    assert.match(shown.stdout, new RegExp(`${text} +excluded +too_large`))
  })
}

for (const engine of Object.keys(engines)) {
  test(`${engine}: what many payees are paid together is exact`, async t => {
    const service = await startService(engine)
    t.after(() => service.close())
    for (let index = 0; index < 95; index += 1) {
      const { id } = await service.newAffiliate(`payee${index}`, { status: 'active' })
      await service.post('/referrals', { affiliate_id: id, amount: MOST, status: 'unpaid' })
    }
    const { body: run } = await service.post('/payout-runs')
    const approval = await service.post(`/payout-runs/${run.id}/approve`, { hash: run.hash })
    assert.equal(approval.body.status, 'approved', JSON.stringify(approval.body))
    const shown = await runCommand(['runs', 'list', '--database', service.databaseUrl])
    assert.match(shown.stdout, /approved +csv +95 +94999999999999\.05$/m)
    const raw = await textOf(service, `/payout-runs/${run.id}`)
    assert.match(raw, /"amount":94999999999999\.05,/)
    const checked = await runCommand(['check', '--database', service.databaseUrl])
    assert.equal(checked.code, 0, checked.stdout + checked.stderr)
  })
}

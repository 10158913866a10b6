import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { test } from 'node:test'
import { type RawBuilder, sql } from 'kysely'
import { assertFailure, dayFromNow, describeService, giveSecretKey } from '../../../test/harness.ts'
import { addSepaPayees, sepaPayer } from '../../../test/sepa-payees.ts'
import { features } from '../../app.ts'
import { checkDatabase } from '../../operations/check/rules.ts'
import { digestWith } from './digest.ts'

describeService('an approved run whose items are changed beside the service', service => {
  giveSecretKey()

  let drafts = 0
  const problems = async () => (await checkDatabase(service().database, features)).problems

  const change = (statement: RawBuilder<unknown>) =>
    service().database.transaction(async tx => {
      await statement.execute(tx)
    })

  /** Two payees with bank details. */
  async function draft(terms: object = {}) {
    drafts += 1
    const payees = await addSepaPayees(service(), [`first${drafts}`, `second${drafts}`])
    const people = payees.map(({ id }) => id)
    const { body: run } = await service().post('/payout-runs', { method: 'sepa', ...terms })
    const approve = () => service().post(`/payout-runs/${run.id}/approve`, { hash: run.hash })
    return { people, run, path: `/payout-runs/${run.id}`, approve }
  }

  for (const [column, value] of [
    ['payee_account', 'mallory@example.org'],
    ['payee_name', 'Mallory'],
    ['details_id', 1],
    ['amount', 1001],
    ['affiliate_id', 999],
    ['digest', 'another'],
  ] as const) {
    test(`is paid by no file, and check says so: ${column}`, async () => {
      const { people, run, path, approve } = await draft()
      assert.equal((await approve()).body.status, 'approved')
      const before = await service().get(`${path}/files/sepa`)
      assert.equal(before.status, 200, JSON.stringify(before.body))
      assert.deepEqual(await problems(), [])
      const item = await service()
        .database.reader.selectFrom('run_items')
        .selectAll()
        .where('run_id', '=', run.id)
        .where('affiliate_id', '=', people[1]!)
        .executeTakeFirstOrThrow()
      const set = (value: unknown) =>
        change(sql`UPDATE run_items SET ${sql.ref(column)} = ${value} WHERE id = ${item.id}`)
      await set(value)
      for (const format of ['sepa', 'csv']) {
        const refused = await service().get(`${path}/files/${format}`)
        assertFailure(refused, 409, 'rest_payout_run_conflict')
        assert.match(refused.body.message, /is not what was approved: .* changed beside the service/)
      }
      assert.match((await problems()).join('\n'), /changed beside the service/)
      await set(item[column])
      assert.equal((await service().get(`${path}/files/sepa`)).body, before.body)
      assert.deepEqual(await problems(), [])
    })
  }

  test('is paid by no file, and check says so: payer', async () => {
    const { run, path, approve } = await draft()
    assert.equal((await approve()).body.status, 'approved')
    const before = await service().get<string>(`${path}/files/sepa`)
    assert.match(before.body, new RegExp(sepaPayer.payer_iban))
    const set = (from: string, to: string) =>
      change(sql`UPDATE payout_runs SET payer = replace(payer, ${from}, ${to}) WHERE id = ${run.id}`)
    await set(sepaPayer.payer_iban, 'GB33BUKB20201555555555')
    const refused = await service().get(`${path}/files/sepa`)
    assertFailure(refused, 409, 'rest_payout_run_conflict')
    assert.match(refused.body.message, /is not what was approved: .* payer were changed beside the service/)
    assert.match((await problems()).join('\n'), new RegExp(`payout_runs ${run.id}: .* payer is another`))
    await set('GB33BUKB20201555555555', sepaPayer.payer_iban)
    assert.equal((await service().get(`${path}/files/sepa`)).body, before.body)
    assert.deepEqual(await problems(), [])
  })

  test('is paid by no file, and check says so: execution date', async () => {
    const { run, path, approve } = await draft({ execution_date: dayFromNow(30) })
    assert.equal(run.execution_date, dayFromNow(30))
    assert.equal((await approve()).body.status, 'approved')
    const before = await service().get<string>(`${path}/files/sepa`)
    assert.match(before.body, new RegExp(`<ReqdExctnDt><Dt>${dayFromNow(30)}</Dt>`))
    const set = (seconds: number | null) =>
      change(sql`UPDATE payout_runs SET execution_date = ${seconds} WHERE id = ${run.id}`)
    for (const other of [Date.parse(dayFromNow(31)) / 1000, null]) {
      await set(other)
      const refused = await service().get(`${path}/files/sepa`)
      assertFailure(refused, 409, 'rest_payout_run_conflict')
      assert.match(
        refused.body.message,
        /is not what was approved: .* execution date or its payer were changed/,
      )
      assert.match(
        (await problems()).join('\n'),
        new RegExp(`payout_runs ${run.id}: .* or its execution date`),
      )
    }
    await set(Date.parse(dayFromNow(30)) / 1000)
    assert.equal((await service().get(`${path}/files/sepa`)).body, before.body)
    assert.deepEqual(await problems(), [])
  })

  test('the hash of a run without an execution date is that of runs from before there were any', () => {
    const hashOf = (execution_date: number | null) => digestWith({ payer: '{}', execution_date }, '', [])
    assert.equal(hashOf(null), hash('sha256', '{}', 'hex'))
    assert.notEqual(hashOf(0), hashOf(null))
  })

  test('is paid by no file, and check says so: an account, with all that was computed of it made anew', async () => {
    const { run, path, approve } = await draft()
    assert.equal((await approve()).body.status, 'approved')
    const { reader } = service().database
    const itemsOf = () =>
      reader
        .selectFrom('run_items')
        .selectAll()
        .where('run_id', '=', run.id)
        .orderBy('affiliate_id')
        .execute()
    const [item] = await itemsOf()
    const [paidFor = ''] = item!.digest.split('.')
    const another = { ...item!, payee_account: 'DE…4321' }
    const payee = [paidFor, another.payee_name, another.payee_account, another.details_id]
    const digest = `${paidFor}.${hash('sha256', JSON.stringify(payee), 'base64url')}`
    await change(
      sql`UPDATE run_items SET payee_account = ${another.payee_account}, digest = ${digest} WHERE id = ${item!.id}`,
    )
    const order = await reader
      .selectFrom('payout_runs')
      .select(['payer', 'execution_date'])
      .where('id', '=', run.id)
      .executeTakeFirstOrThrow()
    await change(
      sql`UPDATE payout_runs SET hash = ${digestWith(order, '', await itemsOf())} WHERE id = ${run.id}`,
    )
    for (const format of ['sepa', 'csv']) {
      const refused = await service().get(`${path}/files/${format}`)
      assertFailure(refused, 409, 'rest_payout_run_conflict')
      assert.match(refused.body.message, /is not what was approved: .* changed beside the service/)
    }
    assert.match(
      (await problems()).join('\n'),
      new RegExp(`payout_runs ${run.id}: not what the log says: hash`),
    )
  })

  test('is not approved when another payer is in the settings since it was prepared', async () => {
    const { run, path, approve } = await draft()
    const admin = await service().admin()
    await admin.patch('/settings', { payer_name: 'Another shop' })
    const refused = await approve()
    assertFailure(refused, 409, 'rest_payout_run_conflict')
    assert.match(refused.body.message, /payer in the settings has changed since/)
    const { body: anew } = await service().post(path, {})
    assert.notEqual(anew.hash, run.hash)
    const { body } = await service().post(`${path}/approve`, { hash: anew.hash })
    assert.equal(body.status, 'approved')
    assert.match((await service().get<string>(`${path}/files/sepa`)).body, /Another shop/)
    await admin.patch('/settings', sepaPayer)
  })

  test('is not approved when a draft was changed', async () => {
    const { people, run, approve } = await draft()
    await change(
      sql`UPDATE run_items SET payee_account = 'mallory@example.org' WHERE run_id = ${run.id} AND affiliate_id = ${people[0]!}`,
    )
    const refused = await approve()
    assertFailure(refused, 409, 'rest_payout_run_conflict')
    assert.match(refused.body.message, /paid by other details/)
  })

  test('is not approved when an item of a draft is gone', async () => {
    const { people, run, approve } = await draft()
    await change(sql`DELETE FROM run_items WHERE run_id = ${run.id} AND affiliate_id = ${people[0]!}`)
    const refused = await approve()
    assertFailure(refused, 409, 'rest_payout_run_conflict')
    assert.match(refused.body.message, /changed beside the service/)
    const { body: anew } = await service().post(`/payout-runs/${run.id}`, {})
    assert.deepEqual([anew.status, anew.payees, anew.refusal], ['draft', run.payees, ''])
  })

  test('is found by check when its hash was changed with them', async () => {
    const { run, approve } = await draft()
    await approve()
    await change(sql`UPDATE payout_runs SET hash = 'x' WHERE id = ${run.id}`)
    assert.match((await problems()).join('\n'), /payout_runs \d+: not what the log says: hash/)
  })
})

describeService('runs that are prepared anew, refused and cancelled', service => {
  test('leave nothing that check takes for a change', async () => {
    const person = await service().newAffiliate('one', { status: 'active' })
    const earn = () => service().post('/referrals', { affiliate_id: person.id, amount: 10, status: 'unpaid' })
    await earn()
    const { body: run } = await service().post('/payout-runs')
    await earn()
    assertFailure(
      await service().post(`/payout-runs/${run.id}/approve`, { hash: run.hash }),
      409,
      'rest_payout_run_conflict',
    )
    const { body: anew } = await service().post(`/payout-runs/${run.id}`, {})
    assert.notEqual(anew.hash, run.hash)
    await service().post(`/payout-runs/${run.id}/approve`, { hash: anew.hash })
    assert.equal((await service().post(`/payout-runs/${run.id}/cancel`)).body.status, 'cancelled')
    // Nobody is left to pay.
    const { body: empty } = await service().post('/payout-runs', { exclude: [person.id] })
    assert.match(empty.hash, /^[0-9a-f]{64}$/)
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })
})

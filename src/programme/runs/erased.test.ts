import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFailure, describeService, giveSecretKey, operatorOf } from '../../../test/harness.ts'
import { addSepaPayees } from '../../../test/sepa-payees.ts'
import { features } from '../../app.ts'
import { checkDatabase } from '../../operations/check/rules.ts'
import { erasePerson } from '../../operations/privacy/rules.ts'
import { file } from './sending.ts'

const active = { status: 'active' }

describeService('a payee who is erased after the approval', service => {
  giveSecretKey()
  test('is in no file, keeps nobody else from being paid, and is settled by a person', async () => {
    const people = await addSepaPayees(service(), ['kept', 'erased', 'last'])
    const erase = (index: number) => erasePerson(operatorOf(service().database), people[index]!.user_id)
    const { body: run } = await service().post('/payout-runs', { method: 'sepa' })
    const path = `/payout-runs/${run.id}`
    assert.equal((await service().post(`${path}/approve`, { hash: run.hash })).body.status, 'approved')
    const counts = async (format: string) => {
      const { body } = await service().get(`${path}/files`)
      const file = body.find((one: any) => one.format === format)
      return [file.payees, file.erased]
    }
    assert.deepEqual(await counts('sepa'), [3, 0])
    await erase(1)
    for (const format of ['sepa', 'csv']) {
      assert.deepEqual(await counts(format), [2, 1])
      const first = await service().get(`${path}/files/${format}`)
      assert.equal(first.status, 200, JSON.stringify(first.body))
      assert.deepEqual(
        [...new Set(first.body.match(/R\d+[B-Z]{4}A\d+/g))],
        [people[0]!, people[2]!].map(({ id }) => `${run.reference}A${id}`),
      )
      assert.equal((await service().get(`${path}/files/${format}`)).body, first.body)
    }
    const { body: file } = await service().get(`${path}/files/sepa`)
    assert.match(file, /<NbOfTxs>2<\/NbOfTxs><CtrlSum>20\.00<\/CtrlSum>/)
    const [item] = (await service().get(`${path}/items?affiliate_id=${people[1]!.id}`)).body
    assert.deepEqual([item.status, item.amount, item.payee_account], ['reserved', 10, ''])
    assert.match(item.note, /^The payee was erased: .* Record it as failed/)

    const content = `reference,status\n${run.reference}A${people[0]!.id},paid\n${run.reference}A${people[2]!.id},paid`
    assert.equal((await service().post(`${path}/results`, { content })).body.recorded.paid, 2)
    assertFailure(await service().post(`${path}/close`), 409, 'rest_payout_run_conflict')
    assert.equal((await service().post(`/run-items/${item.id}`, { status: 'failed' })).body.status, 'failed')
    assert.equal((await service().post(`${path}/close`)).body.status, 'closed')
    const { body: balances } = await service().get(`/affiliates/${people[1]!.id}/balances`)
    assert.deepEqual([balances.unpaid, balances.reserved], [10, 0])
    // Nobody reads mail to the address of an erased account.
    const { body: next } = await service().post('/payout-runs')
    const { body: items } = await service().get(`/payout-runs/${next.id}/items`)
    assert.deepEqual(
      items.map((one: any) => [one.affiliate_id, one.reason]),
      [[people[1]!.id, 'no_payment_details']],
    )
    await erase(0)
    await erase(2)
    assertFailure(await service().get(`${path}/files/sepa`), 409, 'rest_payout_run_conflict')
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })

  test('a download under which a payee is erased ends with an error: half a file could be taken for a whole one', async () => {
    const { database } = service()
    const people = await Promise.all(['stays', 'goes'].map(name => service().newAffiliate(name, active)))
    for (const { id: affiliate_id } of people)
      await service().post('/referrals', { affiliate_id, amount: 10, status: 'unpaid' })
    const { body: run } = await service().post('/payout-runs')
    await service().post(`/payout-runs/${run.id}/approve`, { hash: run.hash })
    const { text } = await file(operatorOf(database), 'csv', { payout_run_id: run.id })
    await erasePerson(operatorOf(database), people[1]!.user_id)
    const download = async () => {
      for await (const _ of text);
    }
    await assert.rejects(download, /a payee erased, while the file was downloaded/)
  })

  test('a file without anybody is refused, and not recorded as downloaded', async () => {
    const person = await service().newAffiliate('alone', { status: 'active' })
    await service().post('/referrals', { affiliate_id: person.id, amount: 10, status: 'unpaid' })
    const { body: run } = await service().post('/payout-runs')
    const path = `/payout-runs/${run.id}`
    assert.equal((await service().post(`${path}/approve`, { hash: run.hash })).body.status, 'approved')
    await erasePerson(operatorOf(service().database), person.user_id)
    assertFailure(await service().get(`${path}/files/csv`), 409, 'rest_payout_run_conflict')
    const { body: files } = await service().get(`${path}/files`)
    assert.deepEqual(
      files.map((file: any) => [file.payees, file.erased, file.downloaded]),
      [[0, 1, '']],
    )
  })
})

import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { describeService } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { fillWithDemo } from './demo.ts'

describeService('the demo', service => {
  before(async () => {
    await fillWithDemo(service().database, features)
  })

  test('each affiliate has a default link since they registered', async () => {
    const { body: affiliates } = await service().get('/affiliates?number=-1')
    const { body: links } = await service().get('/links?number=-1')
    const dates = new Map(links.map((link: any) => [link.code, link.date]))
    assert.deepEqual(
      affiliates.filter((one: any) => dates.get(String(one.affiliate_id)) !== one.date_registered),
      [],
    )
  })

  test('some sales are refunded as a whole, and earn nothing', async () => {
    const refunded = await service()
      .database.reader.selectFrom('referrals')
      .select('status')
      .where('reason', '=', 'refunded')
      .execute()
    assert.ok(refunded.length > 3, `${refunded.length}`)
    assert.ok(refunded.every(({ status }) => status === 'rejected'))
  })

  test('visits are there for as long as referrals', async () => {
    const { reader } = service().database
    const { first } = await reader
      .selectFrom('referrals')
      .select(({ fn }) => fn.min('created_at').as('first'))
      .executeTakeFirstOrThrow()
    const { day } = await reader
      .selectFrom('visit_days')
      .select(({ fn }) => fn.min('day').as('day'))
      .executeTakeFirstOrThrow()
    assert.ok(
      Number(day) <= Number(first) / 86_400 && Number(day) > Number(first) / 86_400 - 4,
      `${day} ${first}`,
    )
    assert.ok(Number(first) < Date.now() / 1000 - 730 * 86_400, `${first}`)
  })
})

describeService('a small demo at the end of a day', service => {
  test('is filled', async () => {
    const until = Date.UTC(2026, 10, 23, 23, 59, 59) / 1000
    assert.ok(await fillWithDemo(service().database, features, { affiliates: 10, payouts: 1300, until }))
  })
})

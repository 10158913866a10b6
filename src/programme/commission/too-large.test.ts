/** What follows from a sale, where it is more than an amount can be: what is sent is refused, what comes later waits. */
import assert from 'node:assert/strict'
import { afterEach, test } from 'node:test'
import { assertFailure, describeService } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { checkDatabase } from '../../operations/check/rules.ts'

const MOST = 999_999_999_999.99

describeService('amounts that would be too large', service => {
  const post = async (path: string, args: object) => {
    const { status, body } = await service().post(path, args)
    assert.equal(status, 201, JSON.stringify(body))
    return body
  }
  const affiliateAt = async (name: string, rate: number, rate_type = 'percentage') =>
    (await service().newAffiliate(name, { status: 'active', rate, rate_type })).id
  let sales = 0
  const sale = (args: object) => ({ kind: 'sale', reference: `large-${++sales}`, ...args })
  const refused = async (path: string, args: object, argument: string, reason: RegExp) => {
    const reply = await service().post(path, args)
    assertFailure(reply, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(reply.body.data.params), [argument])
    assert.match(reply.body.data.params[argument], reason)
  }
  const explained = async (id: number) => (await service().get(`/referrals/${id}/explanation`)).body
  const totalOf = async (id: number) => {
    const stored = service().database.reader.selectFrom('referrals').select('order_total')
    return (await stored.where('id', '=', id).executeTakeFirstOrThrow()).order_total
  }

  afterEach(async () => {
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })

  test('400 - the commission in the currency of a sale, before there is a rate', async () => {
    const greedy = await affiliateAt('greedy', 999_999_999)
    const slightly = await affiliateAt('slightly', 9008)
    for (const affiliate_id of [greedy, slightly]) {
      const sent = { affiliate_id, currency: 'CHF' }
      const tooLarge = /commission would be more than an amount can be/
      await refused('/conversions', sale({ ...sent, amount: MOST }), 'amount', tooLarge)
      await refused('/referrals', { ...sent, order_total: MOST }, 'order_total', tooLarge)
    }
    const most = await affiliateAt('most', 100)
    const { referrals } = await post(
      '/conversions',
      sale({ affiliate_id: most, currency: 'CHF', amount: MOST }),
    )
    assert.equal((await explained(referrals[0].referral_id)).original_amount, '999999999999.99')
  })

  test('400 - a commission in the currency of the programme names what was sent', async () => {
    const affiliate_id = await affiliateAt('own', 101)
    const tooLarge = /commission would be more than an amount can be/
    await refused('/conversions', sale({ affiliate_id, amount: MOST }), 'amount', tooLarge)
    await refused('/referrals', { affiliate_id, order_total: MOST }, 'order_total', tooLarge)
    await post('/exchange-rates', { from_currency: 'NOK', rate: 2, date: '2026-01-01' })
    await refused('/referrals', { affiliate_id, amount: MOST, currency: 'NOK' }, 'amount', tooLarge)
  })

  test('400 - what the customer has paid, in the currency of the programme', async () => {
    await post('/exchange-rates', { from_currency: 'SEK', rate: '999999999999', date: '2026-01-01' })
    const tooLarge = /in USD it would be more than an amount can be/
    for (const [name, rate, type] of [['flat', 5, 'flat'] as const, ['nothing', 0, 'percentage'] as const]) {
      const affiliate_id = await affiliateAt(name, rate, type)
      const sent = { affiliate_id, currency: 'SEK' }
      await refused('/conversions', sale({ ...sent, amount: 100_000_000 }), 'amount', tooLarge)
      await refused('/conversions', sale({ ...sent, amount: 1.01 }), 'amount', tooLarge)
      await refused('/referrals', { ...sent, order_total: 999_999_999_999 }, 'order_total', tooLarge)
      await refused('/referrals', { ...sent, amount: 0, order_total: 2 }, 'order_total', tooLarge)
      const { referrals } = await post('/conversions', sale({ ...sent, amount: 1 }))
      assert.equal(await totalOf(referrals[0].referral_id), 99_999_999_999_900)
      // Nobody pays for it, so it has no total.
      await post('/conversions', { ...sale({ ...sent, amount: 100_000_000 }), kind: 'lead' })
    }
  })

  test('a draft whose payment would be too large - waits for a person, and holds up neither rate nor drafts', async () => {
    const little = await affiliateAt('little', 0.0001)
    const sent = { affiliate_id: little, currency: 'MMK', occurred_at: '2026-03-05' }
    const draftOf = async (amount: number) =>
      (await post('/conversions', sale({ ...sent, amount }))).referrals[0].referral_id
    const large = await draftOf(1_000_000)
    const usual = await draftOf(1)
    const entered = await post('/referrals', {
      affiliate_id: little,
      currency: 'MMK',
      order_total: 1_000_000,
      date: '2026-03-05',
    })
    await post('/exchange-rates', { from_currency: 'MMK', rate: '900000000000', date: '2026-03-01' })
    for (const id of [large, entered.id]) {
      const draft = await explained(id)
      assert.deepEqual([draft.status, draft.reason, draft.amount], ['draft', 'too_large', '0.00'])
    }
    assert.match(
      (await explained(large)).sentences.join(' '),
      /what the customer has paid, is larger than an amount can be/,
    )
    const { status, amount } = await explained(usual)
    assert.deepEqual([status, amount], ['unpaid', '900000.00'])
    assert.equal(await totalOf(usual), 90_000_000_000_000)
    const { status: edited } = await service().patch(`/referrals/${large}`, { status: 'unpaid', amount: 7 })
    assert.equal(edited, 200)
  })

  test('a draft that refunds have lowered - is judged by all of its sale, which a dispute that is won gives back', async () => {
    const affiliate_id = await affiliateAt('lowered', 100)
    const sent = { currency: 'DKK', amount: 1000, occurred_at: '2026-03-05' }
    const { reference, ...sold } = sale({ affiliate_id, ...sent })
    const { referrals } = await post('/conversions', { reference, ...sold })
    const dispute = { reference, part: 'd', currency: 'DKK', amount: 999.99, occurred_at: '2026-03-06' }
    await post('/conversions', { kind: 'dispute', ...dispute })
    await post('/exchange-rates', { from_currency: 'DKK', rate: '900000000000', date: '2026-03-01' })
    await post('/conversions', { kind: 'dispute_won', ...dispute, occurred_at: '2026-03-07' })
    const { status, reason } = await explained(referrals[0].referral_id)
    assert.deepEqual([status, reason], ['draft', 'too_large'])
  })

  test('201 - the end of a dispute after the largest amount was entered, which it does not raise', async () => {
    const affiliate_id = await affiliateAt('raised', 10)
    const sold = sale({ affiliate_id, amount: 1000 })
    const { referrals } = await post('/conversions', sold)
    const dispute = { reference: sold.reference, part: 'd', amount: 999.99 }
    await post('/conversions', { kind: 'dispute', ...dispute })
    const { status } = await service().patch(`/referrals/${referrals[0].referral_id}`, { amount: MOST })
    assert.equal(status, 200)
    const won = await post('/conversions', { kind: 'dispute_won', ...dispute })
    assert.equal(Number(won.referrals[0].amount), MOST)
  })
})

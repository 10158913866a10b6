import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { describeService } from '../../../test/harness.ts'
import { checks } from './check.ts'

describeService('what persons decide about what a sale has earned', service => {
  let affiliate: { id: number; user_id: number }
  let number = 0
  before(async () => {
    affiliate = await service().newAffiliate('decider', {
      status: 'active',
      rate: 20,
      rate_type: 'percentage',
    })
  })
  const post = async (path: string, body: object) => {
    const reply = await service().post(path, body)
    assert.ok(reply.status < 300, JSON.stringify(reply.body))
    return reply.body
  }
  const patch = async (id: number, body: object) => {
    const reply = await service().send('PATCH', `/referrals/${id}`, { body })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    return reply.body
  }
  const sell = async (args: object = {}) => {
    const reference = `decided-${++number}`
    const sale = { context: 'shop', reference, currency: 'USD', affiliate_id: affiliate.id, ...args }
    const { referrals } = await post('/conversions', { kind: 'sale', amount: 100, ...sale })
    const takeBack = (amount: number, part: string, more: object = {}) =>
      post('/conversions', { kind: 'refund', ...sale, affiliate_id: undefined, amount, part, ...more })
    return { id: referrals[0].id as number, reference, takeBack }
  }
  /** The amount of the sale's referral, and those of its refunds that stand. */
  const amounts = async (id: number) => {
    const { body } = await service().get(`/referrals?parent_id=${id}&status=pending,unpaid,paid`)
    const { body: own } = await service().get(`/referrals/${id}`)
    return [own.amount, ...body.map((child: any) => child.amount)]
  }
  const damage = async () => {
    const found: string[] = []
    for await (const problem of checks[0]!(service().database.reader)) found.push(problem)
    return found
  }

  test('explanation - names the refund that has changed it, by date, amount and conversion', async () => {
    const { id, takeBack } = await sell()
    const first = await takeBack(10, 'a', { occurred_at: '2026-02-03 10:00:00' })
    const firstText = `a refund of 10.00 USD on 2026-02-03 (conversion ${first.conversion.conversion_id})`
    const sentencesOf = async (of: number): Promise<string[]> =>
      (await service().get(`/referrals/${of}/explanation`)).body.sentences
    assert.ok((await sentencesOf(id)).includes(`There was ${firstText}.`))
    await service().newPayout(affiliate.id, { referrals: [id] })
    const second = await takeBack(50, 'b', { occurred_at: '2026-02-04 10:00:00' })
    const secondText = `a refund of 50.00 USD on 2026-02-04 (conversion ${second.conversion.conversion_id})`
    const child = second.referrals.find((one: any) => one.parent_id === id)
    assert.ok(
      (await sentencesOf(id)).includes(
        `Referral ${child.referral_id} takes back 10.00 USD of referral ${id} because of ${secondText}.`,
      ),
    )
    assert.deepEqual(await sentencesOf(child.referral_id), [
      `It takes back 10.00 USD of referral ${id} because of ${secondText}.`,
      'It will be deducted from the next payout.',
    ])
    const story = await service().get(`/conversions/${first.conversion.conversion_id}/explanation`)
    for (const text of [firstText, secondText])
      assert.ok(story.body.sentences.includes(`There was ${text}.`), story.body.sentences)
  })

  test('explanation - of what was set by hand, of what was rejected, of the own rate under a rule, and of no dispute', async () => {
    const sentencesOf = async (id: number): Promise<string> =>
      (await service().get(`/referrals/${id}/explanation`)).body.sentences.join(' ')
    // No rate is known.
    const unknown = await sell({ currency: 'NOK' })
    await patch(unknown.id, { status: 'unpaid', amount: 12 })
    assert.match(await sentencesOf(unknown.id), /The amount was set by hand, and is worth 12.00 USD now\./)
    await unknown.takeBack(50, '1')
    assert.match(
      await sentencesOf(unknown.id),
      /The amount was set by hand to 12.00 USD; with the refunds and disputes since, it is worth 6.00 USD now\./,
    )
    const paid = await sell()
    await service().newPayout(affiliate.id, { referrals: [paid.id] })
    const { referrals } = await paid.takeBack(50, '1')
    const child = referrals.find((one: any) => one.parent_id === paid.id).referral_id
    await patch(child, { status: 'rejected' })
    const text = await sentencesOf(paid.id)
    assert.match(text, new RegExp(`Referral ${child} would take back 10.00 USD of referral ${paid.id} `))
    assert.match(text, new RegExp(`Referral ${child} was rejected, so it does not\\.`))
    const rate_type = 'gold'
    await (await service().admin()).patch('/settings', { rate_types: ['percentage', 'flat', 'gold'] })
    await post('/rules', { name: 'gold', rate_type: 'percentage', rate: 30 })
    const own = await service().newAffiliate('own', { status: 'active', rate: 9, rate_type })
    const byRule = await service().newAffiliate('byrule', { status: 'active', rate_type })
    const [ofOwn, ofRule] = [await sell({ affiliate_id: own.id }), await sell({ affiliate_id: byRule.id })]
    assert.match(
      await sentencesOf(ofOwn.id),
      /The rule “gold” \(.*\) applies: 9%, the affiliate's own rate\./,
    )
    assert.match(await sentencesOf(ofRule.id), /The rule “gold” \(.*\) applies: 30%\. /)
    const nothing = { kind: 'dispute', cumulative: true, occurred_at: '2026-02-03 10:00:00' }
    const sold = await sell()
    await sold.takeBack(0, '', { ...nothing, part: undefined })
    assert.doesNotMatch(await sentencesOf(sold.id), /dispute/)
    await sold.takeBack(100, '', { ...nothing, part: undefined, occurred_at: '2026-02-04 10:00:00' })
    assert.match(await sentencesOf(sold.id), /disputes of 0.00 USD .* disputes of 100.00 USD/)
  })

  test('explanation - says what is left of the sale, also where the amount stays the same', async () => {
    const explained = async (id: number) => (await service().get(`/referrals/${id}/explanation`)).body
    const little = await service().newAffiliate('little', { status: 'active', rate: 0.05, rate_type: 'flat' })
    for (const isPaid of [false, true]) {
      const { id, takeBack } = await sell({ amount: 99.86, affiliate_id: little.id })
      if (isPaid) await patch(id, { status: 'paid' })
      await takeBack(1.15, 'r')
      const { amount, left, exact, rounded, sentences } = await explained(id)
      assert.deepEqual(
        [amount, rounded, left.slice(0, 6), exact.slice(0, 6)],
        ['0.05', '0.05', '0.9884', '0.0494'],
      )
      const sentence =
        /^Refunds or disputes have left 98\.84…% of the sale: of 0\.05 USD, 0\.0494\d*… USD are earned\.$/
      assert.ok(
        sentences.some((one: string) => sentence.test(one)),
        sentences.join('\n'),
      )
    }
    const entered = await sell()
    await entered.takeBack(100, 'd', { kind: 'dispute' })
    await patch(entered.id, { amount: 5, status: 'unpaid' })
    await entered.takeBack(100, 'd', { kind: 'dispute_won' })
    const { amount, left, sentences } = await explained(entered.id)
    assert.deepEqual([amount, left], ['5.00', '1'])
    assert.doesNotMatch(sentences.join(' '), /have left nothing/)
    // What was paid is still that of all of the sale, and the refund below it takes back the rest.
    const paid = await sell()
    await patch(paid.id, { status: 'paid' })
    await paid.takeBack(50, 'r')
    assert.equal((await explained(paid.id)).left, '1')
  })

  test('explanation - of what is open again below which refunds stand, which nobody has changed by hand', async () => {
    const sentencesOf = async (id: number): Promise<string> =>
      (await service().get(`/referrals/${id}/explanation`)).body.sentences.join(' ')
    const pay = (id: number) => service().newPayout(affiliate.id, { referrals: [id] })
    const reopen = async ({ payout_id }: any) =>
      assert.equal((await service().delete(`/payouts/${payout_id}`)).status, 200)
    const { id, takeBack } = await sell()
    const payout = await pay(id)
    await takeBack(30, '1')
    await reopen(payout)
    await takeBack(20, '2')
    assert.deepEqual(await amounts(id), ['16.00', '-6.00'])
    const opened = await sentencesOf(id)
    assert.match(
      opened,
      /left 50% of the sale: of 20\.00 USD, 10\.00 USD are earned\. It is worth 16\.00 USD now, because other referrals of the sale take back 6\.00 USD\. /,
    )
    assert.doesNotMatch(opened, /by hand/)
    // Another refund beside it.
    const again = await pay(id)
    await takeBack(10, '3')
    assert.deepEqual(await amounts(id), ['16.00', '-6.00', '-2.00'])
    assert.match(
      await sentencesOf(id),
      /left 40% of the sale: of 20\.00 USD, 8\.00 USD are earned\. It is worth 16\.00 USD now, because other referrals of the sale take back 8\.00 USD\. /,
    )
    // A person decides about one of them.
    await reopen(again)
    const [child] = (await service().get(`/referrals?parent_id=${id}&order=asc`)).body
    await patch(child.id, { status: 'rejected' })
    await takeBack(10, '4')
    assert.deepEqual(await amounts(id), ['14.00', '-2.00'])
    assert.match(
      await sentencesOf(id),
      /6\.00 USD are earned\. It is worth 14\.00 USD now, because other referrals of the sale take back 2\.00 USD, and 6\.00 USD were waived by hand\. /,
    )
    await patch(id, { amount: 15 })
    assert.match(await sentencesOf(id), /It was changed by hand afterwards, and is worth 15\.00 USD now\./)
    // What was taken back is added again.
    const won = await sell()
    const first = await pay(won.id)
    await won.takeBack(30, 'd', { kind: 'dispute' })
    await reopen(first)
    await won.takeBack(20, 'r')
    await pay(won.id)
    await won.takeBack(30, 'd', { kind: 'dispute_won' })
    assert.deepEqual(await amounts(won.id), ['16.00', '-6.00', '6.00'])
    assert.match(
      await sentencesOf(won.id),
      /left 80% of the sale: of 20\.00 USD, 16\.00 USD are earned\. There was/,
    )
    assert.deepEqual(await damage(), [])
  })

  test('explanation - of what was moved to another affiliate says by whose terms it was earned', async () => {
    const explained = async (id: number): Promise<string> =>
      (await service().get(`/referrals/${id}/explanation`)).body.sentences.join(' ')
    const other = await service().newAffiliate('movedto', {
      status: 'active',
      rate: 33,
      rate_type: 'percentage',
    })
    const third = await service().newAffiliate('movedon', { status: 'active' })
    const rated = await service().newAffiliate('withrule', { status: 'active' })
    await post('/rules', {
      name: 'theirs',
      affiliate_id: rated.id,
      rate_type: 'percentage',
      rate: 7,
      hold_days: 0,
      conditions: [{ field: 'sales_ever', at_least: 0 }],
    })
    const move = (id: number, to: { id: number }, more = {}) => patch(id, { affiliate_id: to.id, ...more })
    const { id, takeBack } = await sell()
    await move(id, other, { amount: 21 })
    const moved = `It was moved from affiliate ${affiliate.id} to affiliate ${other.id} by hand.`
    assert.match(
      await explained(id),
      new RegExp(`^The own rate of affiliate ${affiliate.id} applied: 20%\\. .* ${moved}`),
    )
    await takeBack(50, 'r')
    assert.match(await explained(id), new RegExp(`10\\.50 USD now\\. ${moved}`))
    await move(id, third)
    assert.match(
      await explained(id),
      new RegExp(`from affiliate ${affiliate.id} to affiliate ${third.id} by hand`),
    )
    await move(id, affiliate)
    assert.match(await explained(id), /^The affiliate's own rate applies: 20%\. /)
    assert.doesNotMatch(await explained(id), /moved/)
    const byRule = await sell({ affiliate_id: rated.id })
    await move(byRule.id, other)
    assert.match(
      await explained(byRule.id),
      new RegExp(
        `^The rule “theirs” \\(.*\\) applied: 7%\\. .* before this sale affiliate ${rated.id} had 0\\. `,
      ),
    )
    // Without a conversion, and as a draft that has its terms already.
    const alone = await post('/referrals', { affiliate_id: affiliate.id, order_total: 50 })
    await move(alone.id, other)
    assert.match(
      await explained(alone.id),
      new RegExp(`The own rate of affiliate ${affiliate.id} applied: 20%`),
    )
    const draft = await sell({ currency: 'DKK' })
    await move(draft.id, other)
    const ofDraft = new RegExp(`^The own rate of affiliate ${affiliate.id} applied: 20%\\. .* ${moved}`)
    assert.match(await explained(draft.id), ofDraft)
    await post('/exchange-rates', { from_currency: 'DKK', to_currency: 'USD', rate: 0.1, date: '2020-01-01' })
    assert.deepEqual(await amounts(draft.id), ['2.00'])
    assert.match(await explained(draft.id), ofDraft)
    // One that has none yet gets those of whom it was moved to.
    await (await service().admin()).patch('/settings', {
      rate_types: ['percentage', 'flat', 'gold', 'silver'],
    })
    const silver = await service().newAffiliate('silver', { status: 'active', rate_type: 'silver' })
    const unjudged = await sell({ affiliate_id: silver.id })
    await move(unjudged.id, other)
    assert.match(await explained(unjudged.id), /^The affiliate's own rate applies: 33%\. /)
    assert.doesNotMatch(await explained(unjudged.id), /moved/)
  })

  test('ledger - says of each transfer what it was, in the list as in the statement', async () => {
    const { id, takeBack } = await sell({ amount: 200 })
    await takeBack(50, 'a')
    await patch(id, { amount: 25 })
    const { body: own } = await service().get(`/referrals/${id}/explanation`)
    const { body: story } = await service().get(`/conversions/${own.conversion_id}/timeline`)
    const corrected = 'Referral corrected: 5.00 USD from unpaid to commission.'
    assert.ok(story.timeline.map(({ text }: any) => text).includes(corrected), JSON.stringify(story))
    const payout = await service().newPayout(affiliate.id, { referrals: [id] })
    await takeBack(50, 'b')
    await service().patch(`/payouts/${payout.payout_id}`, { affiliate_id: affiliate.id, status: 'failed' })
    const { transfer_id: last } = (
      await service().get(`/affiliates/${affiliate.id}/ledger?number=1&order=desc`)
    ).body[0]
    await service().patch(`/payouts/${payout.payout_id}`, { affiliate_id: affiliate.id, status: 'paid' })
    const { body: off } = await service().post('/referrals', {
      affiliate_id: affiliate.id,
      type: 'write_off',
      amount: -5,
    })
    assert.equal((await service().delete(`/referrals/${off.referral_id}`)).status, 200)
    const path = `/affiliates/${affiliate.id}/ledger?number=8&order=desc`
    const reasons = (await service().get(path)).body.map((one: any) => one.because)
    assert.deepEqual(reasons.toReversed(), [
      'refund of a sale',
      'referral corrected',
      'payout recorded',
      'refund of a sale',
      'payout failed',
      'payout corrected',
      'write-off',
      'referral deleted',
    ])
    const failed = (await service().get(`${path}&reason=payout.fail`)).body
    assert.deepEqual(
      failed.map((one: any) => one.transfer_id),
      [last],
    )
    const admin = await service().admin()
    const { body } = await admin.get(`/affiliates/${affiliate.id}/statement`)
    const lines = body.trimEnd().split('\r\n').slice(-9, -1)
    assert.match(lines[0], new RegExp(`refund of a sale, referral ${id}"$`))
    assert.match(lines[1], new RegExp(`,referral ${id} corrected$`))
    assert.match(lines[4], new RegExp(`,payout ${payout.payout_id} failed$`))
  })

  test('explanation - tells a total of refunds from one refund', async () => {
    const { id, takeBack } = await sell()
    const total = { part: undefined, cumulative: true, occurred_at: '2026-02-05 10:00:00' }
    const { conversion } = await takeBack(20, '', total)
    const sentence = `There were refunds of 20.00 USD in all by 2026-02-05 (conversion ${conversion.conversion_id}).`
    for (const path of [`referrals/${id}`, `conversions/${conversion.conversion_id}`]) {
      const { sentences } = (await service().get(`/${path}/explanation`)).body
      assert.ok(sentences.includes(sentence), sentences.join('\n'))
    }
  })

  test('corrected amount - shrinks with the sale, and is nothing once nothing is left', async () => {
    const lowered = await sell()
    await patch(lowered.id, { amount: 5 })
    await lowered.takeBack(10, 'a')
    assert.deepEqual(await amounts(lowered.id), ['4.50'])
    const raised = await sell()
    await raised.takeBack(50, 'a')
    await patch(raised.id, { amount: 25 })
    await raised.takeBack(25, 'b')
    assert.deepEqual(await amounts(raised.id), ['12.50'])
    await raised.takeBack(25, 'c')
    assert.deepEqual(await amounts(raised.id), ['0.00'])
    const { body } = await service().get(`/referrals/${lowered.id}/explanation`)
    const sentence =
      'It was changed by hand to 5.00 USD; with the refunds and disputes since, it is worth 4.50 USD now.'
    assert.ok(body.sentences.includes(sentence), body.sentences.join('\n'))
    const paid = await sell()
    await patch(paid.id, { amount: 5 })
    await post('/payouts', { affiliate_id: affiliate.id, referrals: [paid.id] })
    await paid.takeBack(10, 'a')
    assert.deepEqual(await amounts(paid.id), ['5.00', '-0.50'])
    assert.deepEqual(await damage(), [])
  })

  test('amount corrected during a dispute that is won - is at most the larger of that amount and what the sale earns', async () => {
    for (const [disputed, set, won] of [
      [50, 20, '20.00'],
      [99, 5, '20.00'],
      [50, 30, '30.00'],
      [50, 5, '10.00'],
      [50, 0, '0.00'],
    ] as const) {
      const { id, takeBack } = await sell()
      await takeBack(disputed, 'd', { kind: 'dispute' })
      await patch(id, { amount: set })
      await takeBack(disputed, 'd', { kind: 'dispute_won' })
      assert.deepEqual(await amounts(id), [won], JSON.stringify([disputed, set]))
    }
    const paid = await sell()
    await paid.takeBack(99, 'd', { kind: 'dispute' })
    await patch(paid.id, { amount: 5 })
    await post('/payouts', { affiliate_id: affiliate.id, referrals: [paid.id] })
    await paid.takeBack(99, 'd', { kind: 'dispute_won' })
    assert.deepEqual(await amounts(paid.id), ['5.00', '15.00'])
  })

  test('amount entered while nothing was left - shrinks like any other, once a dispute that is won has brought the sale back', async () => {
    for (const entered of [5, 26]) {
      const { id, takeBack } = await sell()
      const [whole, half] = [`${entered}.00`, (entered / 2).toFixed(2)]
      const refundInAll = (amount: number) => takeBack(amount, '', { part: undefined, cumulative: true })
      await takeBack(60, 'd', { kind: 'dispute' })
      await takeBack(40, 'e', { kind: 'dispute' })
      await patch(id, { amount: entered })
      // In however many steps.
      await takeBack(60, 'd', { kind: 'dispute_won' })
      assert.deepEqual(await amounts(id), [whole])
      await takeBack(40, 'e', { kind: 'dispute_won' })
      assert.deepEqual(await amounts(id), [whole])
      await refundInAll(50)
      assert.deepEqual(await amounts(id), [half])
      const { body } = await service().get(`/referrals/${id}/explanation`)
      const sentence = `It was changed by hand to ${whole} USD; with the refunds and disputes since, it is worth ${half} USD now.`
      assert.ok(body.sentences.includes(sentence), body.sentences.join('\n'))
      await refundInAll(100)
      const { status, amount } = (await service().get(`/referrals/${id}`)).body
      assert.deepEqual([status, amount], ['rejected', '0.00'])
    }
    const paid = await sell()
    await paid.takeBack(100, 'd', { kind: 'dispute' })
    await patch(paid.id, { amount: 5, status: 'unpaid' })
    await post('/payouts', { affiliate_id: affiliate.id, referrals: [paid.id] })
    await paid.takeBack(100, 'd', { kind: 'dispute_won' })
    await paid.takeBack(50, 'r')
    await paid.takeBack(50, 's')
    assert.deepEqual(await amounts(paid.id), ['5.00', '-2.50', '-2.50'])
    assert.deepEqual(await damage(), [])
  })

  test('amount set beside refunds - they take their share of it, and the explanation says so', async () => {
    const { id, takeBack } = await sell()
    await patch(id, { status: 'paid' })
    await takeBack(50, 'a')
    await patch(id, { amount: 12 })
    assert.deepEqual(await amounts(id), ['12.00', '-10.00', '4.00'])
    const { sentences } = (await service().get(`/referrals/${id}/explanation`)).body
    const [text] = sentences.filter((one: string) => one.includes('adds 4.00 USD'))
    assert.match(
      text,
      new RegExp(
        `^Referral \\d+ adds 4\\.00 USD to referral ${id} on \\d{4}-\\d\\d-\\d\\d, because the amount of that was changed by hand\\.$`,
      ),
    )
    assert.ok(sentences.includes('It was changed by hand afterwards, and is worth 12.00 USD now.'), sentences)
    const { body: moved } = await service().get(`/affiliates/${affiliate.id}/ledger?number=1&order=desc`)
    assert.equal(moved[0].because, 'referral corrected')
    // A refund that was rejected before shrinks alike, and stays rejected.
    const waived = await sell()
    await patch(waived.id, { status: 'paid' })
    const { referrals } = await waived.takeBack(50, 'a')
    await patch(referrals.find((one: any) => one.type === 'refund').id, { status: 'rejected' })
    await patch(waived.id, { amount: 7.01 })
    await waived.takeBack(50, 'b')
    assert.deepEqual(await amounts(waived.id), ['7.01', '-3.50'])
    const [rejected] = (await service().get(`/referrals?parent_id=${waived.id}&order=asc`)).body
    assert.equal(rejected.amount, '-3.51')
    await patch(rejected.id, { status: 'unpaid' })
    await patch(waived.id, { amount: 20 })
    assert.deepEqual((await amounts(waived.id)).toSorted(), ['-12.99', '-3.50', '-3.51', '20.00'])
    assert.deepEqual(await damage(), [])
  })

  test('refund that a person has rejected, changed or deleted - the same report again does not bring it back', async () => {
    const decisions: [decide: (child: number) => Promise<unknown>, then: string[]][] = [
      [child => patch(child, { status: 'rejected' }), []],
      [child => patch(child, { amount: -3 }), ['-3.00']],
      [child => service().send('DELETE', `/referrals/${child}`), []],
    ]
    for (const [decide, then] of decisions) {
      const { id, takeBack } = await sell()
      await post('/payouts', { affiliate_id: affiliate.id, referrals: [id] })
      const { referrals } = await takeBack(50, 'a')
      const child = referrals.find((one: any) => one.type === 'refund')
      assert.equal(child.amount, '-10.00')
      await decide(child.id)
      await takeBack(50, 'a')
      assert.deepEqual(await amounts(id), ['20.00', ...then])
      // The rest is taken back, and what was waived is not.
      await takeBack(50, 'b')
      assert.deepEqual(await amounts(id), ['20.00', ...then, '-10.00'])
    }
    assert.deepEqual(await damage(), [])
  })

  test('what was waived of a dispute - ends when it is won, and what was waived of a refund stays', async () => {
    const decisions: [decide: (child: number) => Promise<unknown>, then: string[]][] = [
      [child => patch(child, { status: 'rejected' }), []],
      [child => patch(child, { amount: -3 }), ['-3.00', '3.00']],
      [child => service().send('DELETE', `/referrals/${child}`), []],
    ]
    const dispute = { kind: 'dispute' }
    for (const [decide, then] of decisions) {
      const { id, takeBack } = await sell()
      await service().newPayout(affiliate.id, { referrals: [id] })
      const { referrals } = await takeBack(100, 'd', dispute)
      await decide(referrals.find((one: any) => one.type === 'refund').id)
      await takeBack(100, 'd', { kind: 'dispute_won' })
      assert.deepEqual(await amounts(id), ['20.00', ...then])
      await takeBack(50, 'r')
      assert.deepEqual(await amounts(id), ['20.00', ...then, '-10.00'])
    }
    const total = (amount: number, day: number) => ({
      amount,
      more: { ...dispute, part: undefined, cumulative: true, occurred_at: `2026-03-0${day}` },
    })
    const inAll = await sell()
    await service().newPayout(affiliate.id, { referrals: [inAll.id] })
    for (const { amount, more } of [total(100, 1), total(0, 2)]) {
      const { referrals } = await inAll.takeBack(amount, '', more)
      const child = referrals.find((one: any) => one.type === 'refund')
      if (amount > 0) await patch(child.id, { status: 'rejected' })
    }
    assert.deepEqual(await amounts(inAll.id), ['20.00'])
    const less = await sell()
    await service().newPayout(affiliate.id, { referrals: [less.id] })
    for (const { amount, more } of [total(50, 1), total(100, 2)]) {
      const { referrals } = await less.takeBack(amount, '', more)
      await patch(referrals.findLast((one: any) => one.type === 'refund').id, { status: 'rejected' })
    }
    for (const [amount, day] of [
      [60, 3],
      [20, 4],
      [0, 5],
    ] as const) {
      const { more } = total(amount, day)
      await less.takeBack(amount, '', more)
      assert.deepEqual(await amounts(less.id), ['20.00'])
    }
    await less.takeBack(50, 'r')
    assert.deepEqual(await amounts(less.id), ['20.00', '-10.00'])
    const both = await sell()
    await service().newPayout(affiliate.id, { referrals: [both.id] })
    const { referrals } = await both.takeBack(30, 'r')
    await patch(referrals.find((one: any) => one.type === 'refund').id, { status: 'rejected' })
    await both.takeBack(50, 'd', dispute)
    await both.takeBack(50, 'd', { kind: 'dispute_won' })
    assert.deepEqual(await amounts(both.id), ['20.00', '-10.00', '10.00'])
    assert.deepEqual(await damage(), [])
  })

  test('409 - a refund is not waived of what was given back, nor put back once its dispute was won', async () => {
    const refused = async (method: string, id: number, body?: object) => {
      const reply = await service().send(method, `/referrals/${id}`, { ...(body && { body }) })
      assert.equal(reply.status, 409, JSON.stringify(reply.body))
      return reply.body.message
    }
    const refundsOf = async (id: number) => (await service().get(`/referrals?parent_id=${id}&order=asc`)).body
    const disputed = async () => {
      const { id, takeBack } = await sell()
      await patch(id, { status: 'paid' })
      await takeBack(50, 'd', { kind: 'dispute' })
      return { id, won: () => takeBack(50, 'd', { kind: 'dispute_won' }) }
    }
    const both = await disputed()
    await both.won()
    const [taken, given] = await refundsOf(both.id)
    const more =
      /^More than all of its sale earns would be owed with referral \d+: reject or delete what adds/
    assert.match(await refused('PATCH', taken.id, { status: 'rejected' }), more)
    assert.match(await refused('DELETE', taken.id), more)
    await patch(given.id, { status: 'rejected' })
    await patch(taken.id, { status: 'rejected' })
    assert.deepEqual(await amounts(both.id), ['20.00'])
    assert.match(await refused('PATCH', given.id, { status: 'unpaid' }), more)
    const over =
      /^The dispute that it follows from was won: it takes nothing of referral \d+ back any more\.$/
    assert.match(await refused('PATCH', taken.id, { status: 'unpaid' }), over)
    const waived = await disputed()
    const [child] = await refundsOf(waived.id)
    await patch(child.id, { status: 'rejected' })
    await patch(child.id, { status: 'unpaid' })
    await patch(child.id, { status: 'rejected' })
    await waived.won()
    assert.match(await refused('PATCH', child.id, { status: 'unpaid' }), over)
    assert.deepEqual(await amounts(waived.id), ['20.00'])
    assert.deepEqual(await damage(), [])
  })

  test('amount set where what was waived and what was taken besides come to nothing - keeps both', async () => {
    const { id, takeBack } = await sell()
    await patch(id, { status: 'paid' })
    const childOf = ({ referrals }: any) => referrals.findLast((one: any) => one.parent_id === id).id
    await patch(childOf(await takeBack(10, 'r')), { amount: -6 })
    await patch(childOf(await takeBack(20, 'd', { kind: 'dispute' })), { status: 'rejected' })
    assert.deepEqual(await amounts(id), ['20.00', '-6.00'])
    const sum = async () => (await amounts(id)).reduce((total, amount) => total + Number(amount), 0)
    await patch(id, { amount: 10 })
    assert.equal(await sum(), 7)
    // The refund takes 1.00 of 10.00, and 2.00 by hand.
    await takeBack(20, 'd', { kind: 'dispute_won' })
    assert.equal(await sum(), 7)
  })

  test('409 - of disputes, no more is waived than is disputed', async () => {
    const refused = async (method: string, id: number, message: RegExp, body?: object) => {
      const reply = await service().send(method, `/referrals/${id}`, { ...(body && { body }) })
      assert.equal(reply.status, 409, JSON.stringify(reply.body))
      assert.match(reply.body.message, message)
    }
    const rejected = { status: 'rejected' }
    const refundsOf = async (id: number) => (await service().get(`/referrals?parent_id=${id}&order=asc`)).body
    const inAll = { kind: 'dispute', cumulative: true }
    const sold = async () => {
      const sale = await sell()
      await patch(sale.id, { status: 'paid' })
      await sale.takeBack(50, 'r')
      return sale
    }
    const twice = await sold()
    for (const [part, amount] of [20, 0, 20].entries())
      await twice.takeBack(amount, `t${part}`, { ...inAll, occurred_at: `2026-04-0${part + 1}` })
    const [, first, given, last] = await refundsOf(twice.id)
    assert.deepEqual(await amounts(twice.id), ['20.00', '-10.00', '-4.00', '4.00', '-4.00'])
    await patch(last.id, rejected)
    const more = /^Less is disputed of its sale than would be given back with referral \d+: reject or delete/
    await refused('PATCH', first.id, more, rejected)
    await refused('DELETE', first.id, more)
    await patch(given.id, rejected)
    await patch(first.id, rejected)
    assert.deepEqual(await amounts(twice.id), ['20.00', '-10.00'])
    // Of what is reported both ways, as a whole and one by one, all can be given back.
    const mixed = await sold()
    await mixed.takeBack(10, 't', { ...inAll, occurred_at: '2026-04-01' })
    await mixed.takeBack(20, 'd', { kind: 'dispute' })
    for (const { id } of (await refundsOf(mixed.id)).slice(1)) await patch(id, rejected)
    assert.deepEqual(await amounts(mixed.id), ['20.00', '-10.00'])
    const over = await sold()
    for (const kind of ['dispute', 'dispute_won']) await over.takeBack(20, 'd', { kind })
    const [, taken, back] = await refundsOf(over.id)
    const won = /^The dispute that it follows from was won: it takes nothing of referral \d+ back any more\.$/
    await refused('PATCH', taken.id, won, rejected)
    await refused('DELETE', taken.id, won)
    await patch(back.id, rejected)
    await patch(taken.id, rejected)
    // What a person has decided since it was won does not end with another one.
    for (const kind of ['dispute', 'dispute_won']) await over.takeBack(30, 'e', { kind })
    assert.deepEqual(await amounts(over.id), ['20.00', '-10.00', '-6.00', '6.00'])
    assert.deepEqual(await damage(), [])
  })

  test('amount set during a dispute, beside a refund that was waived - comes to at most what the sale earns, or was set', async () => {
    const total = (amount: number, day: number) => ({
      amount,
      more: { kind: 'dispute', part: `t${day}`, cumulative: true, occurred_at: `2026-03-0${day}` },
    })
    const sum = async (id: number) =>
      Math.round((await amounts(id)).reduce((all, amount) => all + Number(amount), 0) * 100) / 100
    const childOf = ({ referrals }: any, id: number) =>
      referrals.findLast((one: any) => one.parent_id === id).referral_id
    const rejected = { status: 'rejected' }
    const disputed = await sell({ amount: 61.17 })
    const says = (amount: number, day: number) => disputed.takeBack(amount, '', total(amount, day).more)
    await says(21.77, 1)
    await patch(disputed.id, { status: 'paid' })
    const waived = childOf(await disputed.takeBack(18.06, 'r'), disputed.id)
    await patch(waived, rejected)
    await disputed.takeBack(17.01, 'd', { kind: 'dispute' })
    await patch(disputed.id, { amount: 12.2 })
    for (const [amount, day, right] of [
      [0, 2, 12.23],
      [21.77, 3, 12.2],
      [0, 4, 12.23],
    ] as const) {
      await says(amount, day)
      assert.equal(await sum(disputed.id), right)
    }
    // It takes back what it was worth, and no more of it is missing.
    await patch(waived, { status: 'unpaid' })
    assert.equal(await sum(disputed.id), 8.08)
    const again = await service().patch(`/referrals/${waived}`, rejected)
    assert.match(again.body.message, /^More than all of its sale earns would be owed with referral/)
    // Set beside what the dispute has given back.
    const won = await sell()
    await won.takeBack(50, 'd', { kind: 'dispute' })
    await patch(won.id, { status: 'paid' })
    await patch(childOf(await won.takeBack(25, 'r'), won.id), rejected)
    await won.takeBack(50, 'd', { kind: 'dispute_won' })
    await patch(won.id, { amount: 20 })
    assert.deepEqual(await amounts(won.id), ['20.00', '10.00', '-10.00'])
    await won.takeBack(75, 's')
    assert.equal(await sum(won.id), 10)
    // What a person takes of that, or gives above it, stays.
    const set = await sell()
    await set.takeBack(50, 'd', { kind: 'dispute' })
    await patch(set.id, { amount: 16 })
    await patch(set.id, { status: 'paid' })
    const refund = childOf(await set.takeBack(25, 'r'), set.id)
    await patch(refund, rejected)
    const back = childOf(await set.takeBack(50, 'd', { kind: 'dispute_won' }), set.id)
    assert.deepEqual(await amounts(set.id), ['16.00', '4.00'])
    await patch(back, rejected)
    for (const kind of ['dispute', 'dispute_won']) await set.takeBack(50, 'e', { kind })
    assert.equal(await sum(set.id), 16)
    await patch(back, { status: 'unpaid' })
    await patch(back, { amount: 9 })
    for (const kind of ['dispute', 'dispute_won']) await set.takeBack(50, 'f', { kind })
    assert.equal(await sum(set.id), 25)
    assert.deepEqual(await damage(), [])
  })

  test('calculation of before, where more is owed than its sale earns - takes nothing back of that', async () => {
    const { id, takeBack } = await sell()
    await patch(id, { status: 'paid' })
    const { referrals } = await takeBack(25, 'r')
    await patch(referrals.find((one: any) => one.parent_id === id).referral_id, { status: 'rejected' })
    const { database } = service()
    const { calculation } = await database.reader
      .selectFrom('referrals')
      .select('calculation')
      .where('id', '=', id)
      .executeTakeFirstOrThrow()
    const [waiver] = JSON.parse(calculation).waivers
    const before = {
      ...JSON.parse(calculation),
      corrected: { amount: '1600', left: '1/2' },
      waivers: [{ ...waiver, amount: '800' }],
    }
    await database.transaction(tx =>
      tx
        .updateTable('referrals')
        .set({ amount: 2400, calculation: JSON.stringify(before) })
        .where('id', '=', id)
        .execute(),
    )
    await takeBack(50, 'd', { kind: 'dispute' })
    assert.deepEqual(await amounts(id), ['24.00', '-8.00'])
    await takeBack(50, 'd', { kind: 'dispute_won' })
    assert.deepEqual(await amounts(id), ['24.00', '-8.00', '8.00'])
  })

  test('what was waived of a dispute - stays as far as another report says that it is disputed, and no further', async () => {
    const inAll = (amount: number, day: number) => ({
      amount,
      more: { kind: 'dispute', part: undefined, cumulative: true, occurred_at: `2026-03-0${day}` },
    })
    const sold = async () => {
      const sale = await sell()
      await patch(sale.id, { status: 'paid' })
      const says = (amount: number, day: number) => sale.takeBack(amount, '', inAll(amount, day).more)
      const rejectLast = async () => {
        const [last] = (await service().get(`/referrals?parent_id=${sale.id}&order=desc`)).body
        await patch(last.id, { status: 'rejected' })
      }
      return { ...sale, says, rejectLast }
    }
    // Of a total, which one of its disputes outlives.
    const total = await sold()
    await total.says(40, 1)
    await total.rejectLast()
    await total.takeBack(30, 'd', { kind: 'dispute' })
    await total.says(0, 2)
    assert.deepEqual(await amounts(total.id), ['20.00'])
    await total.takeBack(30, 'd', { kind: 'dispute_won' })
    assert.deepEqual(await amounts(total.id), ['20.00'])
    await total.takeBack(50, 'r')
    assert.deepEqual(await amounts(total.id), ['20.00', '-10.00'])
    // And the other way around.
    const one = await sold()
    await one.takeBack(40, 'd', { kind: 'dispute' })
    await one.rejectLast()
    await one.says(30, 1)
    await one.takeBack(40, 'd', { kind: 'dispute_won' })
    assert.deepEqual(await amounts(one.id), ['20.00'])
    await one.says(0, 2)
    await one.takeBack(50, 'r')
    assert.deepEqual(await amounts(one.id), ['20.00', '-10.00'])
    assert.deepEqual(await damage(), [])
  })

  test('409 - what a dispute took is not given back twice, by its refund and by its end', async () => {
    const { id, takeBack } = await sell()
    await patch(id, { status: 'paid' })
    for (const kind of ['dispute', 'dispute_won']) await takeBack(10, 'd', { kind })
    const [taken, given] = (await service().get(`/referrals?parent_id=${id}&order=asc`)).body
    await takeBack(50, 'e', { kind: 'dispute' })
    await patch(given.id, { status: 'rejected' })
    await patch(taken.id, { status: 'rejected' })
    const { status, body } = await service().patch(`/referrals/${given.id}`, { status: 'unpaid' })
    assert.equal(status, 409)
    assert.match(body.message, /^More than its dispute took would be given back with referral \d+: reject or/)
    await takeBack(50, 'e', { kind: 'dispute_won' })
    assert.deepEqual(await amounts(id), ['20.00', '-10.00', '10.00'])
  })

  test('referral that is rejected already - is described anew beside its refunds', async () => {
    const { id, takeBack } = await sell()
    await post('/payouts', { affiliate_id: affiliate.id, referrals: [id] })
    const { referrals } = await takeBack(50, 'a')
    const [payout] = (await service().get(`/payouts?referrals=${id}`)).body
    await service().send('DELETE', `/payouts/${payout.id}`)
    const child = referrals.find((one: any) => one.type === 'refund')
    await patch(child.id, { status: 'rejected' })
    await patch(id, { status: 'rejected' })
    // As a version has left it that put refunds back there.
    await service().database.transaction(tx =>
      tx.updateTable('referrals').set({ status: 'unpaid' }).where('id', '=', child.id).execute(),
    )
    assert.equal((await patch(id, { description: 'seen' })).description, 'seen')
  })

  test('dispute that is won - gives back what was there, in the status that it had', async () => {
    const reviewed = await sell()
    await patch(reviewed.id, { status: 'pending' })
    await reviewed.takeBack(100, 'd', { kind: 'dispute' })
    assert.equal((await service().get(`/referrals/${reviewed.id}`)).body.status, 'rejected')
    await reviewed.takeBack(100, 'd', { kind: 'dispute_won' })
    const { status, amount } = (await service().get(`/referrals/${reviewed.id}`)).body
    assert.deepEqual([status, amount], ['pending', '20.00'])
    const rejected = await sell()
    await rejected.takeBack(100, 'd', { kind: 'dispute' })
    await patch(rejected.id, { status: 'unpaid', amount: 20 })
    await patch(rejected.id, { status: 'rejected' })
    await rejected.takeBack(100, 'd', { kind: 'dispute_won' })
    assert.equal((await service().get(`/referrals/${rejected.id}`)).body.status, 'rejected')
  })

  test('dispute that is won - gives back the referral, though another one was given its reference meanwhile', async () => {
    const { id, takeBack } = await sell()
    const { body: own } = await service().get(`/referrals/${id}`)
    const { context, reference } = own
    await takeBack(100, 'd', { kind: 'dispute' })
    const given = { affiliate_id: affiliate.id, context, reference, amount: 7, status: 'unpaid' }
    const other = await post('/referrals', given)
    const { referrals } = await takeBack(100, 'd', { kind: 'dispute_won' })
    assert.deepEqual(
      referrals.map((one: any) => [one.referral_id, one.status, one.amount]),
      [[id, 'unpaid', '20.00']],
    )
    // It is the other one that has the reference.
    const again = await service().post('/referrals', given)
    assert.deepEqual([again.status, again.body.referral_id], [200, other.referral_id])
    await takeBack(50, 'r')
    assert.deepEqual(await amounts(id), ['10.00'])
  })

  test('total of disputes after one that was won - takes back all that it says, in whatever order they come', async () => {
    const reports = [
      { kind: 'dispute', amount: 40, occurred_at: '2026-01-02' },
      { kind: 'dispute_won', amount: 40, occurred_at: '2026-02-01' },
      { kind: 'dispute', amount: 30, part: 'second', occurred_at: '2026-03-01' },
    ]
    for (const order of [
      [0, 1, 2],
      [2, 1, 0],
      [1, 2, 0],
    ]) {
      const sale = await sell()
      for (const place of order) {
        const { amount, part = '', ...rest } = { part: undefined, ...reports[place]! }
        await sale.takeBack(amount, part, { cumulative: true, ...rest })
      }
      const { amount } = (await service().get(`/referrals/${sale.id}`)).body
      assert.equal(amount, '14.00', order.join())
    }
  })

  test('draft - gets an amount only with the status that ends its wait, and shrinks from there', async () => {
    const args = { amount: 100_000, currency: 'JPY' }
    const settled = await sell(args)
    const alone = await service().send('PATCH', `/referrals/${settled.id}`, { body: { amount: 50 } })
    assert.equal(alone.status, 409, JSON.stringify(alone.body))
    assert.match(
      alone.body.message,
      /is a draft, because there is no exchange rate of JPY .*: send the status/,
    )
    await patch(settled.id, { status: 'unpaid', amount: 130 })
    await settled.takeBack(50_000, 'a')
    assert.deepEqual(await amounts(settled.id), ['65.00'])
    const rejected = await sell(args)
    await patch(rejected.id, { status: 'rejected' })
    await rejected.takeBack(50_000, 'a')
    assert.deepEqual(await amounts(rejected.id), ['0.00'])
    for (const [body, missing] of [
      [{ status: 'unpaid' }, 'its amount as well'],
      [{ amount: 10 }, 'the status that it is to have with its amount'],
    ] as const) {
      const unknown = await service().patch(`/referrals/${rejected.id}`, body)
      assert.equal(unknown.status, 409, JSON.stringify(unknown.body))
      const message = `The referral was rejected before its amount was known: send ${missing}.`
      assert.equal(unknown.body.message, message)
    }
    await patch(rejected.id, { status: 'unpaid', amount: 10 })
    await rejected.takeBack(25_000, 'b')
    assert.deepEqual(await amounts(rejected.id), ['5.00'])
  })

  test('409 - a referral that is rejected, deleted or moved away from its refunds, and the other way around', async () => {
    const other = await service().newAffiliate('decided', { status: 'active' })
    const { id, takeBack } = await sell()
    await patch(id, { status: 'paid' })
    const { referrals } = await takeBack(50, 'a')
    const child = referrals.find((one: any) => one.type === 'refund')
    await patch(id, { status: 'unpaid' })
    const refused: [method: string, id: number, body?: object][] = [
      ['PATCH', id, { status: 'rejected' }],
      ['PATCH', id, { affiliate_id: other.id }],
      ['DELETE', id],
      ['PATCH', child.id, { affiliate_id: other.id }],
      ['PATCH', child.id, { parent_id: 0 }],
      ['PATCH', id, { parent_id: child.id }],
    ]
    for (const [method, of, body] of refused) {
      const reply = await service().send(method, `/referrals/${of}`, { ...(body && { body }) })
      assert.equal(reply.status, 409, JSON.stringify([method, body, reply.body]))
      assert.equal(reply.body.code, 'rest_referral_conflict')
    }
    await patch(child.id, { parent_id: id, status: 'rejected' })
    await patch(id, { parent_id: 0, status: 'rejected' })
  })

  test('amount entered of a sale of which nothing is left - is not owed, until a person approves it', async () => {
    const { id, takeBack } = await sell()
    await takeBack(100, 'd', { kind: 'dispute' })
    await patch(id, { amount: 20 })
    await takeBack(100, 'd', { kind: 'dispute' })
    const read = async () => (await service().get(`/referrals/${id}`)).body
    assert.deepEqual([(await read()).status, (await read()).amount], ['rejected', '20.00'])
    assert.deepEqual(await damage(), [])
    await takeBack(100, 'd', { kind: 'dispute_won' })
    assert.equal((await read()).status, 'unpaid')
    const approved = await sell()
    await approved.takeBack(100, 'a')
    await patch(approved.id, { amount: 20 })
    await patch(approved.id, { status: 'unpaid' })
    await approved.takeBack(100, 'a')
    assert.equal((await service().get(`/referrals/${approved.id}`)).body.status, 'unpaid')
    assert.deepEqual(await damage(), [])
  })

  test('409 - approving what refunds have left nothing of, or a report of it that earns nothing, without an amount', async () => {
    const { id, takeBack } = await sell()
    await takeBack(100, 'r')
    const byHand = await sell()
    await patch(byHand.id, { status: 'rejected' })
    await byHand.takeBack(100, 'r')
    const [first, second] = [await sell(), await sell()]
    const references = [first, second].map(({ reference }) => reference)
    const joined = { context: 'shop', reference: 'decided-joined', references, amount: 100 }
    await post('/conversions', { kind: 'sale', ...joined })
    const nothing = /^Nothing is owed for it, because nothing is left of the sale: send an amount/
    const twice =
      /^Nothing is owed for it, because the sale was reported twice, and its payment earns once: send/
    const read = async (of: number) => (await service().get(`/referrals/${of}`)).body
    for (const [of, message] of [
      [id, nothing],
      [byHand.id, nothing],
      [second.id, twice],
    ] as const) {
      for (const change of [{ status: 'unpaid' }, { status: 'pending' }, { status: 'paid', amount: 0 }]) {
        const { status, body } = await service().patch(`/referrals/${of}`, change)
        assert.deepEqual([status, body.code], [409, 'rest_referral_conflict'], JSON.stringify(body))
        assert.match(body.message, message)
      }
      const { body } = await service().post('/referrals/bulk', { action: 'approve', referral_id: [of] })
      assert.deepEqual([body.done, body.failed[0].id], [[], of])
      assert.match(body.failed[0].message, message)
      assert.equal((await read(of)).status, 'rejected')
    }
    await patch(id, { status: 'unpaid', amount: 3 })
    await takeBack(100, 'r')
    assert.deepEqual(await amounts(id), ['3.00'])
    assert.equal((await read(id)).status, 'unpaid')
  })

  test('refund that a person has lowered, beside a sale of which nothing is left - is no damage', async () => {
    const { id, takeBack } = await sell()
    const { payout_id } = await service().newPayout(affiliate.id, { referrals: [id] })
    await takeBack(100, 'd', { kind: 'dispute' })
    const { referrals } = await takeBack(100, 'd', { kind: 'dispute_won' })
    const back = referrals.find((one: any) => one.parent_id === id && Number(one.amount) > 0)
    await patch(back.referral_id, { amount: 5 })
    assert.equal((await service().delete(`/payouts/${payout_id}`)).status, 200)
    await takeBack(100, 'a')
    assert.deepEqual(await amounts(id), ['0.00', '-20.00', '5.00'])
    assert.deepEqual(await damage(), [])
  })

  test('refund of a sale whose reference others have, since that was allowed - is recorded', async () => {
    const admin = await service().admin()
    const allow = (unique_references: boolean) => admin.patch('/settings', { unique_references })
    assert.equal((await allow(false)).status, 200)
    const { id, takeBack } = await sell()
    const { context, reference } = (await service().get(`/referrals/${id}`)).body
    const other = await post('/referrals', { affiliate_id: affiliate.id, context, reference, amount: 7 })
    await allow(true)
    await patch(other.id, { status: 'unpaid' })
    await patch(id, { description: 'seen' })
    await takeBack(50, 'a')
    assert.deepEqual(await amounts(id), ['10.00'])
    await takeBack(100, 'b')
    assert.equal((await service().get(`/referrals/${id}`)).body.status, 'rejected')
  })

  test('draft that would be more than an amount can be - keeps nobody else waiting for the rate', async () => {
    const greedy = await service().newAffiliate('greedy', {
      status: 'active',
      rate: 100,
      rate_type: 'percentage',
    })
    const absurd = await sell({ affiliate_id: greedy.id, amount: 999_999_999_999.99, currency: 'SEK' })
    const usual = await sell({ amount: 100, currency: 'SEK' })
    await post('/exchange-rates', {
      from_currency: 'SEK',
      to_currency: 'USD',
      rate: 10,
      date: '2020-01-01',
    })
    assert.deepEqual(await amounts(usual.id), ['200.00'])
    const { body: moved } = await service().get(`/affiliates/${affiliate.id}/ledger?referral_id=${usual.id}`)
    assert.deepEqual(
      moved.map((one: any) => one.reason),
      ['exchange_rate.create'],
    )
    const { body: known } = await service().get(`/referrals/${usual.id}/explanation`)
    const { body: story } = await service().get(`/conversions/${known.conversion_id}/timeline`)
    assert.match(JSON.stringify(story), /Exchange rate entered: 200.00 USD from commission to/)
    assert.equal((await service().get(`/referrals/${absurd.id}`)).body.status, 'draft')
  })

  test('409 - a refund is not put back where nothing is earned any more', async () => {
    for (const isDeleted of [false, true]) {
      const { id, takeBack } = await sell()
      await patch(id, { status: 'paid' })
      const { referrals } = await takeBack(100, '1')
      const child = referrals.find((one: any) => one.parent_id === id).referral_id
      await patch(id, { status: 'unpaid' })
      await patch(child, { status: 'rejected' })
      if (isDeleted) await service().delete(`/referrals/${id}`)
      else await patch(id, { status: 'rejected' })
      const { status, body } = await service().patch(`/referrals/${child}`, { status: 'unpaid' })
      assert.equal(status, 409)
      assert.match(body.message, isDeleted ? /was deleted/ : /is rejected: put that back first/)
      if (isDeleted) continue
      await patch(id, { status: 'unpaid' })
      await patch(child, { status: 'unpaid' })
      assert.deepEqual(await amounts(id), ['20.00', '-20.00'])
    }
    assert.deepEqual(await damage(), [])
  })

  test('taken back once a dispute that was waived is won - is of those that take by now, and ends with them', async () => {
    const { id, takeBack } = await sell()
    const lastOf = ({ referrals }: any) => referrals.findLast((one: any) => one.parent_id === id).referral_id
    const reject = (referral: number) => patch(referral, { status: 'rejected' })
    await patch(id, { status: 'paid' })
    await reject(lastOf(await takeBack(50, 'won', { kind: 'dispute' })))
    await reject(lastOf(await takeBack(40, 'a')))
    const other = await takeBack(30, 'other', { kind: 'dispute' })
    assert.deepEqual(await amounts(id), ['20.00', '-2.00'])
    const ofOther = lastOf(await takeBack(0, 'won', { kind: 'dispute_won' }))
    assert.deepEqual(await amounts(id), ['20.00', '-2.00', '-4.00'])
    const { body } = await service().get(`/referrals/${ofOther}/explanation`)
    const { conversion_id } = other.conversion
    assert.match(
      body.sentences[0],
      new RegExp(
        `^It takes back 4\\.00 .* because of a dispute of 30\\.00 .* \\(conversion ${conversion_id}\\)`,
      ),
    )
    await reject(ofOther)
    await takeBack(0, 'other', { kind: 'dispute_won' })
    assert.deepEqual(await amounts(id), ['20.00', '-2.00', '2.00'])
    assert.equal((await service().patch(`/referrals/${ofOther}`, { status: 'unpaid' })).status, 409)

    const refunded = await sell()
    await patch(refunded.id, { status: 'paid' })
    const { referrals } = await refunded.takeBack(50, 'won', { kind: 'dispute' })
    await reject(referrals.findLast((one: any) => one.parent_id === refunded.id).referral_id)
    const { conversion: refund } = await refunded.takeBack(80, 'a')
    await refunded.takeBack(0, 'won', { kind: 'dispute_won' })
    assert.deepEqual(await amounts(refunded.id), ['20.00', '-10.00', '-6.00'])
    const { body: last } = await service().get(`/referrals?parent_id=${refunded.id}&order=desc`)
    const why = (await service().get(`/referrals/${last[0].id}/explanation`)).body
    assert.equal(why.conversion_id, refund.conversion_id)
    await reject(last[0].id)
    assert.deepEqual(await amounts(refunded.id), ['20.00', '-10.00'])
    assert.deepEqual(await damage(), [])
  })

  test('waived of disputes that are reported one by one and in all - is no more than the sale earns when one is won', async () => {
    const { id, takeBack } = await sell()
    const lastOf = ({ referrals }: any) => referrals.findLast((one: any) => one.parent_id === id).referral_id
    await patch(id, { status: 'paid' })
    const inAll = await takeBack(30, 'all', { kind: 'dispute', cumulative: true })
    await patch(lastOf(inAll), { status: 'rejected' })
    await takeBack(5, 'first', { kind: 'dispute' })
    const second = lastOf(await takeBack(35, 'second', { kind: 'dispute' }))
    assert.deepEqual(await amounts(id), ['20.00', '-2.00'])
    await patch(second, { status: 'rejected' })
    await takeBack(0, 'first', { kind: 'dispute_won' })
    assert.deepEqual(await amounts(id), ['20.00'])
    await patch(second, { status: 'unpaid' })
    assert.deepEqual(await amounts(id), ['20.00', '-2.00', '1.00'])
    assert.deepEqual(await damage(), [])
  })

  test('given by changing a refund while a dispute is open - is owed besides all that the sale earns, once that is won', async () => {
    const { id, takeBack } = await sell()
    await patch(id, { status: 'paid' })
    const { referrals } = await takeBack(30, 'a')
    const refund = referrals.findLast((one: any) => one.parent_id === id).referral_id
    await takeBack(50, 'd', { kind: 'dispute' })
    await patch(refund, { amount: 1 })
    await takeBack(0, 'd', { kind: 'dispute_won' })
    assert.deepEqual(await amounts(id), ['20.00', '1.00', '-10.00', '10.00'])
    await takeBack(0, 'd', { kind: 'dispute_won' })
    assert.deepEqual(await amounts(id), ['20.00', '1.00', '-10.00', '10.00'])
    assert.deepEqual(await damage(), [])
  })

  test('referral of which something is left again - is rejected no more, also where its refunds have all of it', async () => {
    const { id, takeBack } = await sell()
    const read = async () => (await service().get(`/referrals/${id}`)).body
    await takeBack(30, 'won', { kind: 'dispute' })
    await patch(id, { status: 'paid' })
    await takeBack(0, 'won', { kind: 'dispute_won' })
    await patch(id, { status: 'unpaid' })
    const { referrals } = await takeBack(100, 'other', { kind: 'dispute' })
    assert.deepEqual(await amounts(id), ['0.00', '6.00', '-6.00'])
    const taken = referrals.findLast((one: any) => one.parent_id === id).referral_id
    await patch(taken, { status: 'rejected' })
    await takeBack(80, 'a')
    assert.equal((await read()).status, 'rejected')
    await takeBack(0, 'other', { kind: 'dispute_won' })
    assert.equal((await read()).status, 'unpaid')
    assert.deepEqual(await amounts(id), ['0.00', '6.00', '-2.00'])
    await takeBack(20, 'b')
    assert.equal((await read()).status, 'rejected')
    assert.deepEqual(await amounts(id), ['0.00', '6.00', '-2.00', '-4.00'])
    assert.deepEqual(await damage(), [])
  })

  test('amount set of an open referral of 0, beside one that adds to it - they come to no more than was set', async () => {
    const { id, takeBack } = await sell()
    await takeBack(50, 'won', { kind: 'dispute' })
    await patch(id, { status: 'paid' })
    await takeBack(0, 'won', { kind: 'dispute_won' })
    await patch(id, { status: 'unpaid' })
    await takeBack(50, 'a')
    assert.deepEqual(await amounts(id), ['0.00', '10.00'])
    await patch(id, { amount: 7 })
    assert.deepEqual(await amounts(id), ['7.00', '10.00'])
    await patch(id, { amount: 0 })
    await patch(id, { amount: 28 })
    assert.deepEqual(await amounts(id), ['28.00', '10.00', '-10.00'])
    assert.deepEqual(await damage(), [])
  })

  test('what a person records below the referral of a sale - is beside it, and stays as it is', async () => {
    for (const isSet of [false, true]) {
      const { id, takeBack } = await sell()
      await patch(id, { status: 'paid' })
      const beside = { affiliate_id: affiliate.id, parent_id: id, type: 'refund', status: 'unpaid' }
      for (const amount of [-3, 40]) await post('/referrals', { ...beside, amount })
      if (isSet) await patch(id, { status: 'unpaid' })
      if (isSet) await patch(id, { amount: 16 })
      if (isSet) await patch(id, { status: 'paid' })
      const { referrals } = await takeBack(50, 'a')
      const [whole, half] = isSet ? ['16.00', '-8.00'] : ['20.00', '-10.00']
      assert.deepEqual(await amounts(id), [whole, '-3.00', '40.00', half])
      await patch(referrals.findLast((one: any) => one.parent_id === id).referral_id, { status: 'rejected' })
      await takeBack(50, 'b')
      assert.deepEqual(await amounts(id), [whole, '-3.00', '40.00', half])
    }
    assert.deepEqual(await damage(), [])
  })
})

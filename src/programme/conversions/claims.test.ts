/** A click or visit counts for what was bought after it, by clocks that may differ a little. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeService, operatorOf } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { now } from '../../base/time.ts'
import { checkDatabase } from '../../operations/check/rules.ts'
import { currentKey, rotateKeys } from '../tracking/keys.ts'
import { newNonce, signClick } from '../tracking/token.ts'

describeService('clicks and visits around a sale', service => {
  const signed = async (affiliateId: number, time: number) => {
    await rotateKeys(operatorOf(service().database))
    const key = await currentKey(service().database.reader)
    return signClick({ affiliateId, linkId: 0, campaign: '', time, nonce: newNonce(time) }, key!)
  }

  const clicked = async (name: string, time: number) => {
    const { id } = await service().newAffiliate(name, { status: 'active' })
    return { id, token: await signed(id, time) }
  }

  test('later than the sale - earn nothing, and the explanation says so', async () => {
    const { id } = await service().newAffiliate('late', { status: 'active' })
    const sold = now() - 7200
    const moment = (time: number) => new Date(time * 1000).toISOString()
    const evidence: ((time: number) => Promise<object>)[] = [
      async time => ({ click: { last: await signed(id, time) } }),
      async time => {
        const visit = { affiliate_id: id, url: 'https://shop.test/', date: moment(time) }
        return { visit_id: (await service().post('/visits', visit)).body.id }
      },
    ]
    let number = 0
    const sale = (args: object) =>
      service().post('/conversions', { kind: 'sale', amount: 10, occurred_at: moment(sold), ...args })
    for (const given of evidence) {
      for (const [seconds, credited] of [
        [-60, id],
        [240, id],
        [360, 0],
      ] as const) {
        const sent = await given(sold + seconds)
        const reference = `late-${++number}`
        const { body } = await sale({ reference, ...sent })
        assert.equal(body.conversion.affiliate_id, credited, JSON.stringify([sent, seconds, body]))
        const text = body.explanation.candidates[0].text
        assert.equal(/and came after the sale\.$/.test(text), credited === 0, text)
        if (credited !== 0) continue
        // Reported again under another name, without its time.
        const args = { reference: `${reference}-again`, references: [reference], occurred_at: undefined }
        assert.equal((await sale({ ...args, ...sent })).body.conversion.affiliate_id, 0)
      }
      // A date alone stands for the whole day.
      const day = moment(sold - 86_400).slice(0, 10)
      const noon = Date.parse(`${day}T12:00:00Z`) / 1000
      const onDay = await sale({ reference: `late-${++number}`, occurred_at: day, ...(await given(noon)) })
      assert.equal(onDay.body.conversion.affiliate_id, id, JSON.stringify(onDay.body))
    }
  })

  test('the first and the last click exchanged by the shop - which came first is signed', async () => {
    const admin = await service().admin()
    const earlier = await clicked('earlier', now() - 7200)
    const later = await clicked('later', now() - 3600)
    for (const [attribution, { id }] of [
      ['first', earlier],
      ['last', later],
    ] as const) {
      assert.equal((await admin.patch('/settings', { attribution })).status, 200)
      for (const [first, last] of [
        [earlier, later],
        [later, earlier],
      ] as const) {
        const reference = `${attribution} of ${first.id} and ${last.id}`
        const sale = { kind: 'sale', amount: 10, reference, click: { first: first.token, last: last.token } }
        const { body } = await service().post('/conversions', sale)
        assert.equal(body.conversion.affiliate_id, id, reference)
      }
    }
  })

  test('a click of the first second of the window - counts, and one of the second before does not', async () => {
    const { id } = await service().newAffiliate('window', { status: 'active' })
    const sold = now() - 3601
    const { body: settings } = await (await service().admin()).get('/settings')
    const since = sold - settings.attribution_days * 86_400
    for (const [time, credited] of [
      [since, id],
      [since - 1, 0],
    ] as const) {
      const { body } = await service().post('/conversions', {
        kind: 'sale',
        amount: 10,
        reference: `window ${time}`,
        occurred_at: new Date(sold * 1000).toISOString(),
        click: { last: await signed(id, time) },
      })
      assert.equal(body.conversion.affiliate_id, credited, JSON.stringify(body))
    }
  })

  test('the value of the cookie - stands for both clicks', async () => {
    const admin = await service().admin()
    const time = now() - 60
    const [first, last] = [await clicked('cookiefirst', time), await clicked('cookielast', time)]
    for (const [attribution, { id }] of [
      ['last', last],
      ['first', first],
    ] as const) {
      assert.equal((await admin.patch('/settings', { attribution })).status, 200)
      const sale = {
        kind: 'sale',
        amount: 10,
        reference: `cookie ${attribution}`,
        click: { last: `${first.token}.${last.token}` },
      }
      const { body } = await service().post('/conversions', sale)
      assert.equal(body.conversion.affiliate_id, id, JSON.stringify(body))
    }
    const padded = { reference: 'padded', click: { first: '', last: ` ${first.token} ` } }
    const { body: sold } = await service().post('/conversions', { kind: 'sale', amount: 10, ...padded })
    assert.equal(sold.conversion.affiliate_id, first.id, JSON.stringify(sold))
    // What only looks like it is a token that is refused, and the explanation says so.
    const odd = ['.', `.${last.token}`, `${first.token}.`, `${first.token}.${last.token}.`]
    for (const [number, text] of odd.entries()) {
      const sale = { kind: 'sale', amount: 10, reference: `odd ${number}`, click: { last: text } }
      const { body } = await service().post('/conversions', sale)
      assert.equal(body.conversion?.affiliate_id, 0, JSON.stringify(body))
      assert.match(body.explanation.candidates[0].text, /is (?:forged|cut|foreign)/)
    }
  })

  test('the visit of a sale - is one of whoever is credited, and one that exists', async () => {
    const [one, other] = [
      await service().newAffiliate('visited', { status: 'active' }),
      await service().newAffiliate('visitor', { status: 'active' }),
    ]
    const visitTo = async (affiliate_id: number) =>
      (await service().post('/visits', { affiliate_id, url: 'https://shop.test/' })).body.id as number
    const [own, foreign] = [await visitTo(one.id), await visitTo(other.id)]
    let number = 0
    const visitOf = async (args: object) => {
      const sale = { kind: 'sale', amount: 10, reference: `visit ${++number}`, ...args }
      const { status, body } = await service().post('/conversions', sale)
      assert.equal(status, 201, JSON.stringify(body))
      const { affiliate_id, visit_id } = body.conversion
      assert.ok(body.referrals.every((referral: any) => referral.visit_id === visit_id))
      return [affiliate_id, visit_id]
    }
    assert.deepEqual(await visitOf({ visit_id: own }), [one.id, own])
    assert.deepEqual(await visitOf({ affiliate_id: one.id, visit_id: foreign }), [one.id, 0])
    assert.deepEqual(await visitOf({ visit_id: 99_999_999 }), [0, 0])
    await service().patch(`/affiliates/${other.id}`, { status: 'inactive' })
    assert.deepEqual(await visitOf({ visit_id: foreign }), [0, foreign])
  })

  test('a claim that only a later report makes - the sale earns as if the first had made it', async () => {
    const { id } = await service().newAffiliate('invoiced', { status: 'active' })
    const visit = { affiliate_id: id, url: 'https://shop.test/', campaign: 'mail' }
    await service().post('/coupons', { affiliate_id: id, code: 'SPRING', campaign: 'mail' })
    const rule = { name: 'mail', affiliate_id: id, rate_type: 'percentage' }
    const ofCoupon = { rate: 50, priority: 1, conditions: [{ field: 'coupon', is: ['SPRING'] }] }
    const ofCampaign = { rate: 30, priority: 2, conditions: [{ field: 'campaign', is: ['mail'] }] }
    for (const own of [ofCoupon, ofCampaign]) {
      assert.equal((await service().post('/rules', { ...rule, ...own })).status, 201)
    }
    const claims: [() => Promise<object>, string][] = [
      [async () => ({ visit_id: (await service().post('/visits', visit)).body.id }), '3.00'],
      [async () => ({ coupon: 'SPRING' }), '5.00'],
    ]
    const sell = (reference: string, args: object = {}) =>
      service().post('/conversions', { kind: 'sale', amount: 10, reference, ...args })
    for (const [number, [make, amount]] of claims.entries()) {
      // At once, in a report of the same name, and in one of another.
      for (const [first, second] of [['once'], ['again', 'again'], ['invoice', 'session']]) {
        const claim = await make()
        const references = { references: [`${first} ${number}`] }
        if (second) await sell(`${first} ${number}`)
        const { body } = await sell(`${second ?? first} ${number}`, { ...claim, ...references })
        const [referral] = body.referrals
        assert.deepEqual(
          [referral.amount, referral.campaign, referral.visit_id],
          [amount, 'mail', 'visit_id' in claim ? claim.visit_id : 0],
          `${first} ${JSON.stringify(body)}`,
        )
        if (!('visit_id' in claim)) continue
        const read = await service().get(`/visits/${claim.visit_id}`)
        assert.equal(read.body.referral_id, referral.referral_id)
      }
    }
  })

  test('a claim behind a click or a visit that cannot be one - credits the sale, and one behind a refused claim does not', async () => {
    const { id, token } = await clicked('behind', now() - 60)
    const self = await service().newAffiliate('buyer', { status: 'active' })
    const sell = (reference: string, args: object) =>
      service().post('/conversions', { kind: 'sale', amount: 10, reference, ...args })
    const codeOf = (number: number) => `BEHIND${number}`
    const refused: [object, number][] = [
      [{ click: { last: 'forged' } }, id],
      [{ click: { first: 'cut', last: `${token.slice(0, -4)}` } }, id],
      [{ visit_id: 99_999_999 }, id],
      // Whom or what it names is decided.
      [{ affiliate_id: self.id, customer: { email: 'buyer@example.com' } }, 0],
      [{ affiliate_id: 99_999_999 }, 0],
      [{ coupon: codeOf(5) }, 0],
    ]
    for (const [number, [claim, credited]] of refused.entries()) {
      const reference = `behind ${number}`
      const { body: first } = await sell(reference, claim)
      assert.equal(first.conversion.affiliate_id, 0, JSON.stringify(first))
      await service().post('/coupons', { affiliate_id: id, code: codeOf(number) })
      for (const again of [claim, { click: { last: token } }, claim]) {
        const { status, body } = await sell(reference, again)
        assert.equal(status, 200, JSON.stringify(body))
      }
      const { body } = await service().get(`/conversions/${first.conversion.conversion_id}`)
      assert.equal(body.affiliate_id, credited, JSON.stringify([claim, body]))
    }
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })

  test('a claim that only a later report makes and that is refused - the explanation says why', async () => {
    const { id } = await service().newAffiliate('toolate', { status: 'active' })
    await service().post('/coupons', { affiliate_id: id, code: 'LATE', status: 'inactive' })
    const sell = (reference: string, args: object = {}) =>
      service().post('/conversions', { kind: 'sale', amount: 10, reference, ...args })
    for (const [first, second] of [
      ['paid', 'paid'],
      ['invoiced', 'checkout'],
    ] as const) {
      const { conversion_id } = (await sell(first)).body.conversion
      const reasonsNow = async () => {
        const { body } = await service().get(`/conversions/${conversion_id}/explanation`)
        return [
          body.candidates.map(({ reason }: { reason: string }) => reason),
          body.sentences.includes('Nothing that was sent names an affiliate.'),
        ]
      }
      assert.deepEqual(await reasonsNow(), [[], true])
      const references = { references: [first] }
      for (const claim of [{ coupon: 'LATE' }, { coupon: 'LATE' }, { click: { last: 'forged' } }]) {
        const { body } = await sell(second, { ...claim, ...references })
        assert.equal(body.conversion?.affiliate_id, 0, JSON.stringify(body))
        assert.deepEqual(await reasonsNow(), [['inactive_coupon'], false])
      }
      const { body: events } = await service().get('/events?type=conversion.claim')
      const told = events.filter(({ record_id }: { record_id: number }) => record_id === conversion_id)
      assert.deepEqual(
        told.map(({ changes }: { changes: object }) => changes),
        [{ refused: [null, `The coupon is of affiliate ${id}, and is not active.`] }],
      )
    }
    const behind = await sell('behind a token', { click: { last: 'forged' } })
    const { conversion_id } = behind.body.conversion
    const explained = async () => {
      const { body } = await service().get(`/conversions/${conversion_id}/explanation`)
      return body.candidates.map(({ reason }: { reason: string }) => reason)
    }
    const claims = [
      { click: { last: 'cut' } },
      { coupon: 'LATE', click: { last: 'forged' } },
      { coupon: 'LATE' },
      { affiliate_id: 99_999_999 },
    ]
    for (const claim of claims) await sell('behind a token', claim)
    assert.deepEqual(await explained(), ['foreign_click', 'inactive_coupon'])
    const late = { kind: 'sale', amount: 10, reference: 'at once', coupon: 'LATE' }
    const { coupon: _, ...unclaimed } = late
    await service().post('/conversions', unclaimed)
    const atOnce = await Promise.all(Array.from({ length: 16 }, () => service().post('/conversions', late)))
    assert.deepEqual([...new Set(atOnce.map(({ status }) => status))], [200])
    const lines = [unclaimed, late, late].map(line => JSON.stringify({ ...line, reference: 'lines' }))
    const headers = { 'content-type': 'application/x-ndjson' }
    const { body: results } = await service().post<string>('/conversions', lines.join('\n'), { headers })
    const statuses = results
      .trim()
      .split('\n')
      .map(line => JSON.parse(line).status)
    assert.deepEqual(statuses, [201, 200, 200], results)
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })
})

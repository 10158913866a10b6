import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFailure, describeService, operatorOf, runCommand } from '../../../test/harness.ts'
import { erasePerson } from '../../operations/privacy/rules.ts'
import { balancesOf, type Change, postPayout, postReferral } from './rules.ts'

const LARGEST = 99_999_999_999_999

type Earned = NonNullable<Change['after']>
const earning = (affiliate_id: number, args: Partial<Earned> = {}): Earned => ({
  affiliate_id,
  status: 'unpaid',
  type: 'sale',
  amount: 1000,
  payout_id: 0,
  run_item_id: 0,
  created_at: 0,
  order_total: null,
  calculation: '',
  ...args,
})

describeService('the ledger', service => {
  const cause = { reason: 'referral.create' as const, eventId: 1, referralId: 1 }
  const balances = (id: number) => balancesOf(service().database.reader, id)
  const none = {
    commission: 0n,
    pending: 0n,
    unpaid: 0n,
    reserved: 0n,
    paid_out: 0n,
    external: 0n,
    difference: 0n,
    written_off: 0n,
  }
  const figures = async (id: number) => {
    const { earnings, unpaid_earnings, referrals } = (await service().get(`/affiliates/${id}`)).body
    return { earnings, unpaid_earnings, referrals }
  }

  test('a transfer, the balances and the figures of the affiliate change together', async () => {
    const { database } = service()
    const { id } = await service().newAffiliate('earner')
    const [sale, refund] = [earning(id), earning(id, { type: 'refund', amount: -400 })]
    await database.transaction(tx => postReferral(tx, { after: sale }, cause))
    await database.transaction(tx => postReferral(tx, { after: refund }, cause))
    assert.deepEqual(await balances(id), { ...none, commission: -600n, unpaid: 600n })
    assert.deepEqual(await figures(id), { earnings: 0, unpaid_earnings: 6, referrals: 1 })

    const paid = [sale, refund].map(before => ({
      before,
      after: { ...before, status: 'paid', payout_id: 5 } as const,
    }))
    const payment = { affiliateId: id, status: 'paid', amount: 700n, net: 600n, external: false } as const
    const payout = { reason: 'payout.create' as const, eventId: 1, payoutId: 5 }
    await database.transaction(tx => postPayout(tx, paid, { after: payment }, payout))
    assert.deepEqual(await balances(id), { ...none, commission: -600n, paid_out: 700n, difference: -100n })
    assert.deepEqual(await figures(id), { earnings: 6, unpaid_earnings: 0, referrals: 1 })
    const transfers = await database.reader
      .selectFrom('ledger_transfers')
      .select(['debit', 'credit', 'amount'])
      .where('payout_id', '=', 5)
      .orderBy('id')
      .execute()
    assert.deepEqual(
      transfers.map(row => Object.values(row).join(' ')),
      ['unpaid paid_out 600', 'difference paid_out 100'],
    )
  })

  test('one that is given to another affiliate moves between both', async () => {
    const [from, to] = [(await service().newAffiliate('from')).id, (await service().newAffiliate('to')).id]
    const { database } = service()
    await database.transaction(tx => postReferral(tx, { after: earning(from) }, cause))
    await database.transaction(tx => postReferral(tx, { before: earning(from), after: earning(to) }, cause))
    assert.deepEqual(await balances(from), none)
    assert.deepEqual(await balances(to), { ...none, commission: -1000n, unpaid: 1000n })
    assert.deepEqual(await figures(from), { earnings: 0, unpaid_earnings: 0, referrals: 0 })
    assert.deepEqual(await figures(to), { earnings: 0, unpaid_earnings: 10, referrals: 1 })
  })

  test('sums are exact beyond what a JavaScript number holds', async () => {
    const { id } = await service().newAffiliate('rich')
    const { database } = service()
    const large = earning(id, { status: 'pending', amount: LARGEST })
    const sum = BigInt(LARGEST) * 200n
    for (let count = 0; count < 200; count += 1) {
      await database.transaction(tx => postReferral(tx, { after: large }, cause))
    }
    assert.ok(sum > BigInt(Number.MAX_SAFE_INTEGER))
    assert.deepEqual(await balances(id), { ...none, commission: -sum, pending: sum })
    const ever = await balancesOf(database.reader, id, Math.floor(Date.now() / 1000) + 1)
    assert.deepEqual(ever, await balances(id))
  })
})

describeService('the ledger over HTTP', service => {
  const earned = async (affiliate_id: number, amount: number, args: object = {}): Promise<number> =>
    (await service().post('/referrals', { affiliate_id, amount, status: 'unpaid', ...args })).body.id

  test('200 - balances, now and then', async () => {
    const { id } = await service().newAffiliate('owed')
    await earned(id, 10.5)
    await earned(id, 3, { status: 'pending' })
    const { body } = await service().get(`/affiliates/${id}/balances`)
    const { as_of, ...rest } = body
    assert.match(as_of, /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/)
    assert.deepEqual(rest, {
      affiliate_id: id,
      currency: 'USD',
      commission: -13.5,
      pending: 3,
      unpaid: 10.5,
      reserved: 0,
      paid_out: 0,
      external: 0,
      difference: 0,
      written_off: 0,
    })
    const { body: then } = await service().get(`/affiliates/${id}/balances?as_of=2020-01-01`)
    assert.deepEqual([then.as_of, then.unpaid, then.commission], ['2020-01-01 23:59:59', 0, 0])
    const { body: later } = await service().get(`/affiliates/${id}/balances?as_of=2999-01-01`)
    assert.equal(later.unpaid, 10.5)
    const wrong = await service().get(`/affiliates/${id}/balances?as_of=today`)
    assert.deepEqual(Object.keys(wrong.body.data.params), ['as_of'])
  })

  test('200 - every transfer with what is owed after it, in any order and on any page', async () => {
    const { id } = await service().newAffiliate('listed')
    const referrals = [
      await earned(id, 1),
      await earned(id, 2),
      await earned(id, 4, { status: 'pending' }),
      await earned(id, 8),
    ]
    const payout = await service().newPayout(id, { referrals: referrals.slice(0, 2) })
    const path = `/affiliates/${id}/ledger`
    const { body } = await service().get(path)
    assert.deepEqual(
      body.map(({ debit, credit, amount, balance, referral_id, payout_id, reason }: any) => [
        `${debit} -> ${credit} ${amount}`,
        balance,
        referral_id || payout_id,
        reason,
      ]),
      [
        ['commission -> unpaid 1', 1, referrals[0], 'referral.create'],
        ['commission -> unpaid 2', 3, referrals[1], 'referral.create'],
        ['commission -> pending 4', 3, referrals[2], 'referral.create'],
        ['commission -> unpaid 8', 11, referrals[3], 'referral.create'],
        ['unpaid -> paid_out 3', 8, payout.id, 'payout.create'],
      ],
    )
    const first = await service().get(`${path}?order=desc&number=2&count=1`)
    assert.equal(first.headers.get('x-total-count'), '5')
    assert.deepEqual(first.body, body.slice(3).reverse())
    const next = /<(.*)>/.exec(first.headers.get('link')!)![1]!
    const second = await service().get(next.slice(next.indexOf('/affiliates')))
    assert.deepEqual(second.body, body.slice(1, 3).reverse())
    assert.deepEqual((await service().get(`${path}?account=pending`)).body, [body[2]])
    assert.deepEqual((await service().get(`${path}?referral_id=${referrals[3]}`)).body, [body[3]])
    assert.deepEqual((await service().get(`${path}?fields=amount,balance&number=1`)).body, [
      { amount: 1, balance: 1 },
    ])
  })

  test('200 - a long ledger is read whole, forwards and backwards', async () => {
    const { id } = await service().newAffiliate('long')
    const { database } = service()
    const one = earning(id, { amount: 100 })
    await database.transaction(async tx => {
      for (let count = 0; count < 600; count += 1) {
        await postReferral(tx, { after: one }, { reason: 'referral.create', eventId: 1, referralId: 1 })
      }
    })
    const balances = Array.from({ length: 600 }, (_, index) => ({ balance: index + 1 }))
    const path = `/affiliates/${id}/ledger?fields=balance`
    assert.deepEqual((await service().get(`${path}&number=-1`)).body, balances)
    assert.deepEqual((await service().get(`${path}&number=-1&order=desc`)).body, balances.toReversed())
  })

  test('both answer for an affiliate who was deleted, and 404 for one who never was', async () => {
    const { id } = await service().newAffiliate('left')
    await earned(id, 7)
    await service().delete(`/affiliates/${id}`)
    assert.equal((await service().get(`/affiliates/${id}/balances`)).body.unpaid, 7)
    assert.equal((await service().get(`/affiliates/${id}/ledger`)).body.length, 1)
    const { id: poor } = await service().newAffiliate('left-with-nothing')
    await service().delete(`/affiliates/${poor}`)
    assert.equal((await service().get(`/affiliates/${poor}/balances`)).body.unpaid, 0)
    assert.deepEqual((await service().get(`/affiliates/${poor}/ledger`)).body, [])
    for (const path of ['balances', 'ledger']) {
      assertFailure(await service().get(`/affiliates/987654/${path}`), 404, 'invalid_affiliate_id')
    }
  })

  test('sums beyond what a JavaScript number holds have every digit', async () => {
    const { id } = await service().newAffiliate('richest')
    for (let count = 0; count < 100; count += 1) await earned(id, 999_999_999_999.99)
    const reply = await fetch(`${service().url}/v1/affiliates/${id}/balances`, {
      headers: { authorization: `Bearer ${service().key.token}` },
    })
    assert.match(await reply.text(), /"unpaid":99999999999999(?:,|})/)
    const one = await fetch(`${service().url}/v1/affiliates/${id}`, {
      headers: { authorization: `Bearer ${service().key.token}` },
    })
    assert.match(await one.text(), /"unpaid_earnings":99999999999999(?:,|})/)
  })
})

describeService('ledger: deleted affiliates who are owed', service => {
  test('are listed in the area until what is owed is paid or written off', async () => {
    const admin = await service().admin()
    const listed = async () => (await admin.get('/affiliates/deleted-but-owed')).body
    const { id, user_id } = await service().newAffiliate('leaver', { payment_email: 'leaver@bank.example' })
    const { id: other } = await service().newAffiliate('stayer')
    for (const [affiliate_id, amount, status] of [
      [id, 10.5, 'unpaid'],
      [id, 2, 'pending'],
      [other, 3, 'unpaid'],
    ]) {
      await service().post('/referrals', { affiliate_id, amount, status })
    }
    assert.deepEqual(await listed(), [])
    await service().delete(`/affiliates/${id}`)
    const payee = { affiliate_id: id, name: 'leaver@bank.example', payment_email: 'leaver@bank.example' }
    assert.deepEqual(await listed(), [{ ...payee, owed: 10.5, pending: 2 }])
    const checked = await runCommand(['check', '--database', service().databaseUrl])
    assert.equal(checked.code, 0, checked.stderr)
    assert.match(checked.stdout, new RegExp(`Affiliate ${id} was deleted: 10.5 is owed, 2 is pending.`))
    assertFailure(
      await service().post('/referrals', { affiliate_id: id, amount: 1 }),
      400,
      'rest_invalid_param',
    )
    const written = await service().post('/referrals', { affiliate_id: id, amount: -10.5, type: 'write_off' })
    assert.equal(written.status, 201, JSON.stringify(written.body))
    assert.deepEqual(await listed(), [{ ...payee, owed: 0, pending: 2 }])
    await erasePerson(operatorOf(service().database), user_id)
    const [erased] = await listed()
    assert.deepEqual([erased.name, erased.payment_email, erased.pending], [`erased-${user_id}`, '', 2])
    assertFailure(await service().get('/affiliates/deleted-but-owed'), 404, 'rest_no_route')
  })
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { assertFailure, describeService, operatorOf, type Service } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { checkDatabase } from '../../operations/check/rules.ts'
import { approve as approveRun, prepare as prepareRun } from './rules.ts'

/** What a person or program does with runs, over HTTP. */
function programme(service: () => Service) {
  const owe = async (affiliate_id: number, amount: number, more = {}): Promise<number> => {
    const type = amount < 0 ? 'refund' : 'sale'
    const reply = await service().post('/referrals', {
      affiliate_id,
      amount,
      type,
      status: 'unpaid',
      ...more,
    })
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    return reply.body.id
  }
  const prepare = async (args = {}) => {
    const reply = await service().post('/payout-runs', args)
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    return reply.body
  }
  const step = (id: number, what: string, args = {}) => service().post(`/payout-runs/${id}${what}`, args)
  const approved = async (args = {}) => {
    const run = await prepare(args)
    const reply = await step(run.id, '/approve', { hash: run.hash })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
    assert.equal(reply.body.status, 'approved')
    return reply.body
  }
  const items = async (id: number, query = '') =>
    (await service().get(`/payout-runs/${id}/items?number=-1${query}`)).body
  const balances = async (id: number) => (await service().get(`/affiliates/${id}/balances`)).body
  const results = (id: number, content: string, more = {}) => step(id, '/results', { content, ...more })
  const sound = async () => {
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  }
  return { owe, prepare, step, approved, items, balances, results, sound }
}

describeService('a payout run from who is owed to who is paid', service => {
  const { owe, prepare, step, approved, items, balances, results, sound } = programme(service)

  test('201 - a preview says of everybody with a balance why they are in or out', async () => {
    // One after the other: a run lists them in the order of their identifiers.
    const ids: number[] = []
    const names = ['rich', 'poor', 'later', 'waiting', 'taken', 'refused', 'silent', 'given', 'next']
    for (const name of names) {
      ids.push((await service().newAffiliate(name, { status: 'active' })).id)
    }
    const [rich, poor, later, waiting, taken, refused, silent, given, next] = ids
    await service().newAffiliate('nobody')
    await owe(rich!, 30)
    await owe(rich!, -5, { date: '2099-01-01' })
    await owe(poor!, 4)
    await owe(later!, 50, { date: '2099-01-01' })
    await owe(waiting!, 50, { status: 'pending' })
    await owe(taken!, -3)
    await owe(refused!, 20)
    await service().patch(`/affiliates/${refused}`, { status: 'rejected' })
    await owe(silent!, 20)
    await owe(given!, 30)
    await owe(next!, 50, { date: '2099-01-03' })
    // A dispute that was won: both are behind the cut-off.
    for (const id of [given!, next!]) {
      await owe(id, -40, { date: '2099-01-01' })
      await owe(id, 40, { date: '2099-01-02', type: 'refund' })
    }
    const run = await prepare({ minimum: 10, cut_off: '2098-12-31', exclude: [silent] })
    assert.equal(run.status, 'draft')
    assert.deepEqual([run.payees, run.amount, run.excluded], [2, 55, 7])
    const listed = await items(run.id)
    for (const { reason, note } of listed) assert.match(note, reason ? /^[A-Z].*\.$/ : /^$/)
    const { note: carried } = listed.find((item: any) => item.affiliate_id === later)
    assert.match(carried, /, 50\.00 USD, was earned after the cut-off/)
    const said = Object.fromEntries(
      listed.map((item: any) => [item.affiliate_id, item.reason || item.status]),
    )
    assert.deepEqual(said, {
      [rich!]: 'included',
      [poor!]: 'below_minimum',
      [later!]: 'after_cut_off',
      [waiting!]: 'on_hold',
      [taken!]: 'negative',
      [refused!]: 'not_active',
      [silent!]: 'left_out',
      [given!]: 'included',
      [next!]: 'after_cut_off',
    })
    assert.equal((await balances(rich!)).reserved, 0)
    const leftOut = async (body: object) => {
      assert.equal((await step(run.id, '', body)).body.status, 'draft')
      return (await items(run.id, '&reason=left_out')).map((item: any) => item.affiliate_id)
    }
    assert.deepEqual(await leftOut({ leave_out: [rich] }), [rich, silent])
    assert.deepEqual((await service().get(`/payout-runs/${run.id}`)).body.left_out, [rich, silent])
    const { note: below } = listed.find((item: any) => item.affiliate_id === poor)
    assert.match(below, /^What this run could pay, 4\.00 USD, is less than the minimum/)
    // A slip of the pen would leave in who was meant.
    const slip = await service().post('/payout-runs', { exclude: [silent, 99_999] })
    assert.match(slip.body.data.params.exclude, /there is no affiliate 99999\.$/)
    assertFailure(await step(run.id, '', { leave_out: [99_999] }), 400, 'rest_invalid_param')
    const again = await step(run.id, '', { leave_out: [rich] })
    assertFailure(again, 409, 'rest_payout_run_conflict')
    assert.match(again.body.message, new RegExp(`^Affiliate ${rich} is left out already`))
    assert.deepEqual(await leftOut({ take_in: [rich, silent] }), [])
    const { body: edits } = await service().get('/events?type=payout_run.edit&number=1000')
    assert.deepEqual(
      edits.filter((edit: any) => edit.record_id === run.id).map((edit: any) => edit.changes.left_out),
      [
        [[silent], [rich, silent]],
        [[rich, silent], []],
      ],
    )
    const { body: group } = await service().post('/groups', { name: 'Resellers' })
    await service().patch(`/affiliates/${poor}`, { group_id: group.id })
    const ofGroup = await items((await prepare({ group_id: group.id })).id)
    assert.deepEqual(
      ofGroup.map((item: any) => item.affiliate_id),
      [poor],
    )
    assert.equal((await prepare({ group_id: group.id, minimum: 4 })).payees, 1)
    const empty = await prepare({ group_id: group.id, minimum: 4.01 })
    const ofNobody = await step(empty.id, '/approve', { hash: empty.hash })
    assertFailure(ofNobody, 409, 'rest_payout_run_conflict')
    assert.equal(ofNobody.body.message, 'Nobody is paid by this run.')
    assertFailure(await service().post('/payout-runs', { group_id: 99_999 }), 400, 'rest_invalid_param')
    assertFailure(await step(run.id, '/cancel', { status: 'gone' }), 400, 'rest_invalid_param')
    assert.equal((await step(run.id, '/cancel', { status: 'draft' })).body.status, 'cancelled')
    // Also when the answer was lost, and it is cancelled once more.
    assert.equal((await step(run.id, '/cancel', { status: 'draft' })).body.status, 'cancelled')
    assert.equal((await items(run.id, '&status=included')).length, 0)
    await sound()
  })

  test('200 - approved, downloaded, handed over, read back and closed; the same results twice change nothing', async () => {
    const names = ['gone', 'broken', 'doubt', 'back']
    const ids: number[] = []
    for (const name of names) ids.push((await service().newAffiliate(name, { status: 'active' })).id)
    const referrals = await Promise.all(ids.map(id => owe(id, 12.5)))
    await owe(ids[0]!, 2.5)
    const exclude = (await items((await prepare()).id))
      .map((item: any) => item.affiliate_id)
      .filter((id: number) => !ids.includes(id))
    const run = await approved({ exclude, note: 'October' })
    assert.deepEqual([run.payees, run.amount], [4, 52.5])
    assert.deepEqual([(await balances(ids[0]!)).unpaid, (await balances(ids[0]!)).reserved], [0, 15])

    for (const refused of [
      await service().patch(`/referrals/${referrals[0]}`, { amount: 1 }),
      await service().delete(`/referrals/${referrals[0]}`),
      await service().post('/payouts', { affiliate_id: ids[0], referrals: [referrals[0]] }),
    ]) {
      assert.equal(refused.status, 409, JSON.stringify(refused.body))
    }
    const { reference: name } = run
    const others = [`R${run.id}A1`, `R${run.id}BBBBA1`, `${name}B`, `x${name}`, 'R', '%']
    for (const text of [name, `${name}A${ids[0]}`, `${name.toLowerCase()}-1`, ...others]) {
      const found = await service().get(`/payout-runs?search=${encodeURIComponent(text)}&fields=ids`)
      assert.deepEqual(found.body, others.includes(text) ? [] : [run.id], text)
    }
    const headers = await service().send('HEAD', `/payout-runs/${run.id}/files/csv`)
    assert.match(headers.headers.get('content-disposition') ?? '', /payout-run-\d+-csv\.csv/)
    const [unseen] = (await service().get(`/payout-runs/${run.id}/files`)).body
    assert.equal(unseen.downloaded, '')
    const file = await service().get(`/payout-runs/${run.id}/files/csv?columns=reference,account,amount,note`)
    assert.equal(file.status, 200)
    assert.equal(
      file.body.replace('\uFEFF', ''),
      [
        'reference,account,amount,note',
        ...ids.map((id, index) =>
          [
            `${run.reference}A${id}`,
            `${names[index]}@example.com`,
            index === 0 ? '15.00' : '12.50',
            'October',
          ].join(),
        ),
        '',
      ].join('\r\n'),
    )
    assert.equal((await service().get(`/payout-runs/${run.id}/files/csv`)).status, 200)
    const { body: downloads } = await service().get('/events?type=payout_run.download&number=1000')
    assert.equal(downloads.filter(({ record_id }: any) => record_id === run.id).length, 2)
    assertFailure(await step(run.id, '/cancel'), 409, 'rest_payout_run_conflict')
    const asDraft = await step(run.id, '/cancel', { status: 'draft', not_handed_over: true })
    assertFailure(asDraft, 409, 'rest_payout_run_conflict')
    assert.equal(asDraft.body.message, 'The run is approved by now: look at it again before it is cancelled.')
    assert.equal((await step(run.id, '/files/csv')).body.status, 'sent')
    assertFailure(await step(run.id, '/cancel', { not_handed_over: true }), 409, 'rest_payout_run_conflict')
    assertFailure(await step(run.id, '/close'), 409, 'rest_payout_run_conflict')

    const reference = (index: number) => `${run.reference}A${ids[index]}`
    const contradictory = await results(
      run.id,
      `reference,status\n${reference(0)},paid\n${reference(0)},failed\n${reference(3)},failed\n${reference(3)},paid`,
    )
    assert.deepEqual(contradictory.body.recorded, { paid: 0, failed: 0, returned: 0, unknown: 0 })
    assert.deepEqual(
      contradictory.body.conflicts.map((one: any) => [one.reference, one.affiliate_id, one.amount]),
      [
        [reference(0), ids[0], 15],
        [reference(3), ids[3], 12.5],
      ],
    )
    const content = `reference;status;note\n${reference(0)};paid;\n${reference(1)};failed;"closed; account"\n${reference(2)};unknown;\n${reference(3)};paid;\n${run.reference}A999999;paid;\n`
    const dry = await results(run.id, content, { dry_run: true })
    assert.equal((await service().get(`/payout-runs/${run.id}/reconciliation`)).body.open.count, 4)
    const real = await results(run.id, content)
    const expected = {
      payout_run_id: run.id,
      dry_run: false,
      recorded: { paid: 2, failed: 1, returned: 0, unknown: 1 },
      unchanged: 0,
      conflicts: [],
      unknown_references: [`${run.reference}A999999`],
      ignored: 0,
    }
    const { lines, ...realCounts } = real.body
    assert.deepEqual(realCounts, expected)
    assert.deepEqual(dry.body, { ...expected, lines, dry_run: true })
    assert.deepEqual(
      lines.map((line: any) => [line.affiliate_id, line.amount, line.before, line.outcome, line.note]),
      [
        [ids[0], 15, 'reserved', 'paid', ''],
        [ids[1], 12.5, 'reserved', 'failed', 'closed; account'],
        [ids[2], 12.5, 'reserved', 'unknown', ''],
        [ids[3], 12.5, 'reserved', 'paid', ''],
      ],
    )
    const again = await results(run.id, content)
    assert.deepEqual(again.body.recorded, { paid: 0, failed: 0, returned: 0, unknown: 0 })
    assert.equal(again.body.unchanged, 4)

    const [first] = await items(run.id, '&status=paid')
    const paid = (await service().get(`/payouts/${first.payout_id}`)).body
    assert.deepEqual(
      [paid.affiliate_id, paid.amount, paid.status, paid.payout_method],
      [ids[0], 15, 'paid', 'csv'],
    )
    assert.equal((await service().get(`/referrals/${referrals[0]}`)).body.status, 'paid')
    assert.equal((await service().get(`/referrals/${referrals[1]}`)).body.status, 'unpaid')
    assert.equal((await items(run.id, '&status=failed'))[0].note, 'closed; account')
    for (const change of [{ amount: 3 }, { payout_method: 'cash' }, { affiliate_id: ids[1] }]) {
      const refused = await service().patch(`/payouts/${paid.id}`, { affiliate_id: ids[0], ...change })
      assertFailure(refused, 409, 'rest_payout_conflict')
      assert.match(refused.body.message, /its date, reference and note can change/)
    }
    const noted = {
      affiliate_id: ids[0],
      date: '2026-02-03',
      reference: 'B-1',
      note: 'seen',
      payout_method: 'csv',
    }
    assert.equal((await service().patch(`/payouts/${paid.id}`, noted)).status, 200)

    const [doubt] = await items(run.id, '&status=unknown')
    for (const note of ['first look', 'second look']) {
      const { status, body } = await service().post(`/run-items/${doubt.id}`, { status: 'unknown', note })
      assert.deepEqual([status, body.status, body.note], [200, 'unknown', note])
    }
    const { body: looks } = await service().get('/events?type=run_item.edit&number=1000')
    const { changes } = looks.findLast((event: any) => event.record_id === doubt.id)
    assert.deepEqual(changes.note, ['first look', 'second look'])
    const settled = await service().post(`/run-items/${doubt.id}`, { status: 'paid', note: 'asked the bank' })
    assert.deepEqual([settled.body.status, settled.body.note], ['paid', 'asked the bank'])
    for (const again of [{ note: 'asked the bank' }, {}]) {
      const { status } = await service().post(`/run-items/${doubt.id}`, { status: 'paid', ...again })
      assert.equal(status, 200)
    }
    const late = await service().post(`/run-items/${doubt.id}`, { status: 'paid', note: 'my note' })
    assertFailure(late, 409, 'rest_payout_run_conflict')
    assert.match(late.body.message, /^That the payment is paid was recorded already, with another note/)
    assertFailure(
      await service().post(`/run-items/${doubt.id}`, { status: 'failed' }),
      409,
      'rest_payout_run_conflict',
    )
    assert.equal((await step(run.id, '/close')).body.status, 'closed')
    const tooLate = await step(run.id, '/cancel')
    assertFailure(tooLate, 409, 'rest_payout_run_conflict')
    assert.match(tooLate.body.message, /cannot be cancelled: .* record as returned what comes back\.$/)
    const returned = await results(run.id, `reference,status\n${reference(3)},returned`)
    assert.equal(returned.body.recorded.returned, 1)
    assert.deepEqual([(await balances(ids[3]!)).unpaid, (await balances(ids[3]!)).paid_out], [12.5, 0])
    const why = async (id: number) => {
      const { body } = await service().get(`/affiliates/${id}/ledger?order=desc`)
      return body[0].because
    }
    assert.deepEqual(await Promise.all(ids.map(why)), [
      'payout recorded',
      'payout failed',
      'payout recorded',
      'payout returned',
    ])
    const deleted = await service().delete(`/payouts/${first.payout_id}`)
    assert.equal(deleted.status, 200)
    assert.equal((await items(run.id, `&run_item_id=${first.id}`))[0].status, 'returned')
    const {
      paid: confirmed,
      failed,
      returned: back,
      sent,
      balanced,
    } = (await service().get(`/payout-runs/${run.id}/reconciliation`)).body
    assert.deepEqual(
      [sent, confirmed, failed, back, balanced],
      [
        { count: 4, sum: 52.5 },
        { count: 1, sum: 12.5 },
        { count: 1, sum: 12.5 },
        { count: 2, sum: 27.5 },
        true,
      ],
    )
    const { body: csv } = await service().get(`/payout-runs/${run.id}/reconciliation/csv`)
    assert.deepEqual(csv.replace('\uFEFF', '').split('\r\n').slice(1, 7), [
      `${run.id},sent,,4,52.50,USD`,
      `${run.id},paid,,1,12.50,USD`,
      `${run.id},failed,,1,12.50,USD`,
      `${run.id},returned,,2,27.50,USD`,
      `${run.id},unknown,,0,0.00,USD`,
      `${run.id},open,,0,0.00,USD`,
    ])
    await sound()
  })

  test('409 - whatever has changed since is named, and nothing is reserved', async () => {
    const changed = await service().newAffiliate('changed', { status: 'active' })
    const same = await service().newAffiliate('same', { status: 'active' })
    const referral = await owe(changed.id, 40)
    await owe(same.id, 40)
    const changes: [string, () => Promise<unknown>, () => Promise<unknown>][] = [
      [
        'a refund',
        () => owe(changed.id, -1),
        async () => {
          const { body } = await service().get(`/referrals?affiliate_id=${changed.id}&type=refund`)
          await service().delete(`/referrals/${body[0].id}`)
        },
      ],
      [
        'a rejection',
        () => service().patch(`/referrals/${referral}`, { status: 'rejected' }),
        () => service().patch(`/referrals/${referral}`, { status: 'unpaid' }),
      ],
      [
        'an address, which waits before it is used',
        () => service().patch(`/affiliates/${changed.id}`, { payment_email: 'other@example.com' }),
        () => service().patch(`/affiliates/${changed.id}`, { payment_email: 'changed@example.com' }),
      ],
    ]
    for (const [what, act, undo] of changes) {
      const run = await prepare()
      await act()
      const reply = await step(run.id, '/approve', { hash: run.hash })
      assertFailure(reply, 409, 'rest_payout_run_conflict')
      assert.deepEqual(Object.keys(reply.body.data.affiliates), [String(changed.id)], what)
      assert.equal((await service().get(`/payout-runs/${run.id}`)).body.status, 'draft')
      await undo()
      const wrong = await step(run.id, '/approve', { hash: 'x' })
      assertFailure(wrong, 409, 'rest_payout_run_conflict')
    }
    const [first, second] = [await prepare(), await prepare()]
    assert.equal((await step(first.id, '/approve', { hash: first.hash })).body.status, 'approved')
    assertFailure(await step(second.id, '/approve', { hash: second.hash }), 409, 'rest_payout_run_conflict')
    assert.equal((await step(first.id, '/cancel')).body.status, 'cancelled')
    assert.equal((await balances(same.id)).reserved, 0)
    const { body: group } = await service().post('/groups', { name: 'Partners' })
    await service().patch(`/affiliates/${same.id}`, { group_id: group.id })
    const ofGroup = await prepare({ group_id: group.id })
    await service().patch(`/affiliates/${same.id}`, { group_id: 0 })
    const left = await step(ofGroup.id, '/approve', { hash: ofGroup.hash })
    assertFailure(left, 409, 'rest_payout_run_conflict')
    assert.deepEqual(left.body.data.affiliates, {
      [same.id]: 'is left out now. The affiliate is not in the group that this run pays.',
    })
    assert.equal((await step(ofGroup.id, '')).body.payees, 0)
    const gone = await prepare()
    const waiting = (await items(gone.id)).find((item: any) => item.affiliate_id === changed.id)
    assert.deepEqual([waiting.status, waiting.reason], ['excluded', 'details_too_new'])
    assert.match(waiting.note, /: they are used from [\d-]+ [\d:]+ UTC on\.$/)
    await service().delete(`/affiliates/${same.id}`)
    const reply = await step(gone.id, '/approve', { hash: gone.hash })
    assert.match(reply.body.message, /is left out now\. The affiliate was deleted/)
    const after = (await service().get(`/payout-runs/${gone.id}`)).body
    assert.deepEqual([after.status, after.refusal], ['draft', reply.body.message])
    await sound()
  })

  test('other referrals of the same amount make an approval 409, which says so', async () => {
    const { id } = await service().newAffiliate('alike', { status: 'active' })
    const { id: other } = await service().newAffiliate('moved.to', { status: 'active' })
    const first = await owe(id, 7)
    const run = await prepare({ exclude: [other] })
    await service().patch(`/referrals/${first}`, { affiliate_id: other })
    await owe(id, 7)
    const refused = await step(run.id, '/approve', { hash: run.hash })
    assertFailure(refused, 409, 'rest_payout_run_conflict')
    assert.deepEqual(refused.body.data.affiliates, {
      [id]: 'is owed the same amount for other referrals, or for other amounts of them.',
    })
    await step(run.id, '/cancel')
    await sound()
  })

  test('a payment by hand that names no referrals is said in the preview, and makes an approval 409', async () => {
    const { id } = await service().newAffiliate('hand', { status: 'active' })
    await owe(id, 7.2)
    const ofHand = async (run: number) => (await items(run, `&affiliate_id=${id}`))[0]
    const run = await prepare()
    assert.equal((await ofHand(run.id)).note, '')
    assert.equal((await service().post('/payouts', { affiliate_id: id, amount: 10 })).status, 201)
    const refused = await step(run.id, '/approve', { hash: run.hash })
    assertFailure(refused, 409, 'rest_payout_run_conflict')
    assert.match(refused.body.message, /was paid otherwise meanwhile.* 10\.00 USD was paid by payouts/)
    const again = (await step(run.id, '')).body
    assert.match(
      (await ofHand(run.id)).note,
      /^Beside this, 10\.00 USD was paid by payouts that name no referrals/,
    )
    assert.equal((await step(run.id, '/approve', { hash: again.hash })).body.status, 'approved')
    await step(run.id, '/cancel')
    await sound()
  })

  test('409 - a run with an outcome is not cancelled, and its payments can be settled to the end', async () => {
    const { owe, approved, step, items, balances, results, sound } = programme(service)
    const people: number[] = []
    for (const name of ['unsure', 'settled']) {
      const { id } = await service().newAffiliate(name, { status: 'active' })
      await owe(id, 50)
      people.push(id)
    }
    const run = await approved()
    const [unsure, paid] = (await items(run.id)).filter((item: any) => people.includes(item.affiliate_id))
    const record = (id: number, status: string) => service().post(`/run-items/${id}`, { status })
    assert.equal((await record(unsure.id, 'unknown')).status, 200)
    assert.equal((await service().get(`/payout-runs/${run.id}`)).body.status, 'sent')
    assertFailure(await step(run.id, '/cancel', { not_handed_over: true }), 409, 'rest_payout_run_conflict')
    assert.equal((await record(paid.id, 'paid')).status, 200)
    // As runs were left that were cancelled beside payments with outcomes.
    const { database } = service()
    await database.transaction(tx =>
      tx.updateTable('payout_runs').set({ status: 'cancelled' }).where('id', '=', run.id).execute(),
    )
    const { problems } = await checkDatabase(database, features)
    assert.ok(problems.some(problem => problem.includes(`run_items ${unsure.id}: its outcome is unknown`)))
    assert.equal((await record(unsure.id, 'failed')).status, 200)
    const { body } = await results(run.id, `reference,status\n${paid.reference},returned`)
    assert.equal(body.recorded.returned, 1, JSON.stringify(body))
    for (const id of people) {
      const { unpaid, reserved, paid_out } = await balances(id)
      assert.deepEqual([unpaid, reserved, paid_out], [50, 0, 0])
    }
    await database.transaction(tx =>
      tx.updateTable('payout_runs').set({ status: 'sent' }).where('id', '=', run.id).execute(),
    )
    await sound()
  })

  test('200 - an item whose payout is set to failed or deleted says why it is returned, and so does its run', async () => {
    const people: number[] = []
    for (const name of ['failing', 'vanishing', 'neither']) {
      const { id } = await service().newAffiliate(name, { status: 'active' })
      await owe(id, 50)
      people.push(id)
    }
    const run = await approved()
    const itemOf = async (person: number) => (await items(run.id, `&affiliate_id=${person}`))[0]
    for (const [index, person] of people.entries()) {
      const { id } = await itemOf(person)
      await service().post(`/run-items/${id}`, { status: index === 2 ? 'failed' : 'paid', note: 'the bank' })
    }
    const [failing, vanishing, neither] = await Promise.all(people.map(itemOf))
    const ended = [
      await service().patch(`/payouts/${failing.payout_id}`, { affiliate_id: people[0], status: 'failed' }),
      await service().delete(`/payouts/${vanishing.payout_id}`),
      await service().delete(`/payouts/${neither.payout_id}`),
    ]
    assert.deepEqual(
      ended.map(({ status }) => status),
      [200, 200, 200],
    )
    const seen = (await Promise.all(people.map(itemOf))).map((item: any) => [
      item.status,
      item.note,
      item.payout_id,
    ])
    assert.deepEqual(seen, [
      ['returned', `Its payout ${failing.payout_id} was set to failed.`, failing.payout_id],
      ['returned', `Its payout ${vanishing.payout_id} was deleted.`, 0],
      ['failed', 'the bank', 0],
    ])
    const log = async (record: string, id: number) => {
      const admin = await service().admin()
      return (await admin.get(`/audit?record=${record}&record_id=${id}&order=asc`)).body
    }
    for (const item of [failing, vanishing]) {
      const { before, after } = (await log('run_item', item.id)).at(-1)
      assert.deepEqual([before.status, after.status], ['paid', 'returned'])
    }
    const said = (await log('payout_run', run.id)).map(({ after }: any) => after?.last_results)
    assert.deepEqual(said.slice(-2), [
      `By hand: payment ${failing.reference} returned, since payout ${failing.payout_id} was set to failed`,
      `By hand: payment ${vanishing.reference} returned, since payout ${vanishing.payout_id} was deleted`,
    ])
    await sound()
  })

  test('403 - with two persons, neither who prepared nor the command line approves', async () => {
    const admin = await service().admin()
    const { id } = await service().newAffiliate('double', { status: 'active' })
    await owe(id, 10)
    const earlier = await prepare()
    await admin.patch('/settings', { approval: 'two' })
    assert.deepEqual([earlier.approval, (await step(earlier.id, '')).body.approval], ['one', 'two'])
    const run = await prepare()
    const own = await step(run.id, '/approve', { hash: run.hash })
    assertFailure(own, 403, 'rest_second_person')
    assertFailure(
      await admin.post(`/payout-runs/${run.id}/approve`, { hash: run.hash }),
      403,
      'rest_second_person',
    )
    const made = await prepareRun(operatorOf(service().database), {})
    assertFailure(await step(made.id, '/approve', { hash: made.hash }), 403, 'rest_second_person')
    await assert.rejects(
      approveRun(operatorOf(service().database), { payout_run_id: run.id, hash: run.hash }),
      /the command line is nobody/,
    )
    // A setting that is less strict now does not count for a run from before.
    await admin.patch('/settings', { approval: 'one' })
    assertFailure(await step(run.id, '/approve', { hash: run.hash }), 403, 'rest_second_person')
    assert.equal((await step(earlier.id, '')).body.approval, 'two')
  })

  test('400 - results that cannot be read, or are of another run, change nothing', async () => {
    const run = await approved()
    const of = `${run.reference}A1`
    for (const [content, named] of [
      ['', /names/],
      ['reference,amount\nR1A1,5', /reference and status/],
      [`reference,status\n${of},done`, /line 2: status must be one of/],
      [`reference,status\n"${of},paid`, /closed by the quote/],
      [`status,reference,amount,note\npaid,${of},1.00,x\npaid,${of}`, /line 3 has 2 of the 4 cells/],
      [`reference,status\n${of},`, /line 2 has no status/],
      ['reference,status\nR99999A1,paid', /about payout run 99999/],
      ['reference,status\nhello,paid', /by the references/],
    ] as const) {
      const reply = await results(run.id, content)
      assertFailure(reply, 400, 'rest_invalid_param')
      assert.match(reply.body.data.params.content, named)
    }
    assert.equal((await service().get(`/payout-runs/${run.id}`)).body.status, 'approved')
    assertFailure(await service().get('/payout-runs/99999/items'), 404, 'invalid_payout_run_id')
  })
})

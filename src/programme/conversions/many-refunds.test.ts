/** More refunds of one payment than anybody has, in one request. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { describeService } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { checkDatabase } from '../../operations/check/rules.ts'
import { directRun, runsDirectly } from '../../storage/prepared.ts'

const MOST = 500

interface LineResult {
  readonly status: number
  readonly conversion?: { readonly conversion_id: number }
  readonly referrals?: readonly { readonly amount: number; readonly type: string }[]
}

describeService('refunds of one payment, line by line', service => {
  async function sell(reference: string, amount: number): Promise<{ affiliate: number; referral: number }> {
    const own = { status: 'active', rate: 20, rate_type: 'percentage' }
    const { id: affiliate } = await service().newAffiliate(reference, own)
    const sale = { kind: 'sale', context: 's', reference, amount, affiliate_id: affiliate }
    const { body } = await service().post('/conversions', sale)
    return { affiliate, referral: body.referrals[0].referral_id }
  }
  async function refund(lines: readonly object[]): Promise<{ results: LineResult[]; length: number }> {
    const text = lines
      .map(one => JSON.stringify({ kind: 'refund', context: 's', amount: 1, ...one }))
      .join('\n')
    const headers = { 'content-type': 'application/x-ndjson' }
    const { body } = await service().post<string>('/conversions', text, { headers })
    return {
      results: body
        .trim()
        .split('\n')
        .map(line => JSON.parse(line)),
      length: body.length,
    }
  }
  const parts = (reference: string, from: number, count: number) =>
    Array.from({ length: count }, (_, number) => ({ reference, part: `${from + number}` }))
  const owed = async (affiliate: number) =>
    (await service().get(`/affiliates/${affiliate}/balances`)).body.unpaid

  test('are recorded up to the most, and the others refused, each by itself', async () => {
    const { affiliate } = await sell('many', 1000)
    const { results } = await refund([
      ...parts('many', 1, MOST - 1),
      { reference: 'another', references: ['many'], part: 'late' },
      ...parts('many', 1, 2),
    ])
    const statuses = results.map(({ status }) => status)
    assert.deepEqual(statuses, [...Array(MOST - 1).fill(201), 409, 200, 200])
    assert.equal(await owed(affiliate), (1000 - (MOST - 1)) * 0.2)
    // What was refused has named nothing: this is a payment of its own.
    const alone = await service().post('/conversions', { kind: 'lead', context: 's', reference: 'another' })
    assert.deepEqual([alone.status, alone.body.explanation.payment.paid], [201, 0])
  })

  test('end at the most parts, where totals, disputes and their ends still count', async () => {
    const { affiliate, referral } = await sell('whole', 1000)
    const dispute = { reference: 'whole', part: 'd', amount: 501 }
    const { results } = await refund([
      { kind: 'dispute', ...dispute },
      ...parts('whole', 1, 520),
      { kind: 'dispute_won', ...dispute, amount: undefined },
      { kind: 'dispute', ...dispute, part: 'e' },
    ])
    const statuses = results.map(({ status }) => status)
    const accepted = MOST - 1
    assert.deepEqual(statuses, [...Array(accepted).fill(201), ...Array(521 - accepted).fill(409), 201, 201])
    assert.equal(await owed(affiliate), 0.2)
    const total = (amount: number) => ({ reference: 'whole', cumulative: true, amount })
    const all = await service().post('/conversions', { kind: 'refund', context: 's', ...total(1000) })
    assert.deepEqual([all.status, all.body.explanation.payment.left], [201, 0], JSON.stringify(all.body))
    assert.equal(await owed(affiliate), 0)
    const { body: own } = await service().get(`/referrals/${referral}`)
    assert.deepEqual([own.status, own.amount], ['rejected', '0.00'])
    const others = Array.from({ length: 98 }, (_, number) => total(number + 1))
    const last = (await refund([...others, total(1000)])).results.slice(-3)
    assert.deepEqual(
      last.map(({ status }) => status),
      [201, 409, 200],
    )
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })

  test('are answered by what each has changed, also after the sale was paid', async () => {
    const { affiliate, referral } = await sell('paid', 1000)
    await service().post('/payouts', { affiliate_id: affiliate, referrals: referral })
    const { results } = await refund(parts('paid', 1, 120))
    assert.equal(await owed(affiliate), -24)
    for (const { referrals } of results) {
      assert.deepEqual(
        referrals!.map(({ type, amount }) => [type, amount]),
        [
          ['sale', '200.00'],
          ['refund', '-0.20'],
        ],
      )
    }
  })

  /** Tells of the number of rows of whatever is read in transactions. */
  async function countRows(tell: (rows: number) => void): Promise<void> {
    await service().database.transaction(async tx => {
      const run = directRun(tx)!
      const counting: typeof run = <R>(text: string, parameters: readonly unknown[]) => {
        const read = run<R>(text, parameters)
        tell(read.length)
        return read
      }
      runsDirectly(tx, { isNear: true, run: counting })
    })
  }
  const isCounted = () => service().database.engine.name === 'SQLite'
  const UNCOUNTED = 'rows are counted where they are read in this process'

  test('are not read again for each part of the request', async t => {
    if (!isCounted()) return t.skip(UNCOUNTED)
    await sell('large', 1000)
    await refund(parts('large', 1, 150))
    let large = 0
    await countRows(rows => {
      if (rows > 150) large += 1
    })
    // At least three parts.
    const { results } = await refund(parts('large', 151, 340))
    assert.deepEqual(new Set(results.map(({ status }) => status)), new Set([201]))
    assert.equal(large, 1)
  })

  test('are not read again for each line', async t => {
    if (!isCounted()) return t.skip(UNCOUNTED)
    await sell('counted', 1000)
    let rows = 0
    await countRows(count => {
      rows += count
    })
    const rowsOf = async (from: number, count: number) => {
      rows = 0
      await refund(parts('counted', from, count))
      return rows
    }
    await rowsOf(1, 20)
    const few = await rowsOf(21, 40)
    const many = await rowsOf(61, 80)
    assert.ok(many < 2.5 * few, `${few} rows for 40 lines, ${many} for 80`)
  })
})

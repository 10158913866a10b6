/** ACH files whose totals are as large as their fields, and larger. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertFailure, giveSecretKey, startService } from '../../../../test/harness.ts'
import type { Frame, Line } from './format.ts'
import { nacha } from './nacha.ts'

const payer = {
  payer_name: 'SHOP INC',
  payer_bank: 'FIRST BANK',
  payer_routing: '021000021',
  payer_company_id: '1234567890',
}

describe('ACH files', () => {
  giveSecretKey()

  test('200 - what comes to more than the total of an ACH file has room for is in several, each with its own', async t => {
    // On SQLite, tests refuse transactions that log nothing, as that which prepares the first hundred.
    const service = await startService('PostgreSQL')
    t.after(() => service.close())
    await (await service.admin()).patch('/settings', payer)
    for (let index = 0; index < 104; index += 1) {
      const { id } = await service.newAffiliate(`large${index}`, { status: 'active' })
      await service.post('/referrals', { affiliate_id: id, amount: 99_999_999.99, status: 'unpaid' })
      const details = {
        routing_number: '091000019',
        account_number: `1234${index}`,
        holder: `Payee ${index}`,
      }
      const reply = await service.post('/payment-details', { affiliate_id: id, method: 'nacha', ...details })
      assert.equal(reply.status, 201, JSON.stringify(reply.body))
    }
    const { body: run } = await service.post('/payout-runs', { method: 'nacha' })
    const path = `/payout-runs/${run.id}`
    const approval = await service.post(`${path}/approve`, { hash: run.hash })
    assert.equal(approval.body.status, 'approved', JSON.stringify([run, approval.body]))
    const { body: files } = await service.get(`${path}/files`)
    assert.deepEqual(
      files.map((file: any) => [file.format, file.part, file.parts, file.payees]),
      [
        ['csv', 1, 1, 104],
        ['nacha', 1, 2, 100],
        ['nacha', 2, 2, 4],
      ],
    )
    const headers = new Set<string>()
    for (const [part, payees] of [
      [1, 100n],
      [2, 4n],
    ] as const) {
      const { body: text } = await service.get(`${path}/files/nacha?part=${part}`)
      const records: string[] = text.split('\r\n')
      const cents = records
        .filter(record => record.startsWith('6'))
        .reduce((sum, record) => sum + BigInt(record.slice(29, 39)), 0n)
      assert.equal(cents, payees * 9_999_999_999n)
      const controls = records.filter(record => record.startsWith('8') || record.startsWith('90'))
      assert.deepEqual(
        controls.map(record => BigInt(record.startsWith('8') ? record.slice(32, 44) : record.slice(43, 55))),
        [cents, cents],
      )
      headers.add(records[0]!)
    }
    assert.equal(headers.size, 2)
    assertFailure(await service.post(`${path}/files/nacha`, { part: 3 }), 409, 'rest_payout_run_conflict')
    for (const part of [2, 1]) {
      assert.equal((await service.post(`${path}/files/nacha`, { part })).body.status, 'sent')
    }
    assert.equal((await service.get(`${path}/files/csv`)).status, 200)
    const { body: events } = await service.get('/events?type=payout_run.download,payout_run.send&number=1000')
    assert.deepEqual(
      events.map(({ type, data, changes }: any) => [
        type,
        data?.format ?? changes.format,
        data ? data.part : changes.part,
      ]),
      [
        ['payout_run.download', 'nacha', 1],
        ['payout_run.download', 'nacha', 2],
        ['payout_run.send', [null, 'nacha'], [null, 2]],
        ['payout_run.send', 'nacha', 1],
        ['payout_run.download', 'csv', undefined],
      ],
    )
  })

  const frame: Frame = {
    run: { id: 7, reference: 'R7KQXT', note: '', method: 'nacha', execution_date: null },
    at: 1_793_000_000,
    payer: {
      name: 'SHOP INC',
      iban: '',
      bic: '',
      bank: 'FIRST BANK',
      routing: '021000021',
      companyId: '1234567890',
    },
    currency: 'USD',
    decimals: 2,
    part: 1,
    count: 0,
    sum: 0n,
    columns: [],
  }

  async function written(count: number, amount: number, of: Partial<Frame> = {}) {
    const line = (index: number): Line => ({
      id: index,
      affiliate_id: index,
      amount,
      reference: `R7A${index}`,
      payee_name: 'Payee',
      payee_account: '',
      account: { routingNumber: '091000019', accountNumber: '1', company: index % 2 === 0 },
    })
    const lines = async function* () {
      yield Array.from({ length: count }, (_, index) => line(index))
    }
    let text = ''
    for await (const piece of nacha.write({ ...frame, ...of }, lines)) text += piece
    return text
  }

  test('a total that has no room for its first digit makes no file; a hash has its last ten digits', async () => {
    // Each of the two batches has room for its total.
    await assert.rejects(written(102, 9_999_999_999), /1019999999898 has no room in 12 digits/)
    const control = (await written(1200, 1)).split('\r\n').find(record => record.startsWith('90'))!
    assert.equal(control.slice(21, 31), String((1200n * 9_100_001n) % 10_000_000_000n).padStart(10, '0'))
    assert.equal(BigInt(control.slice(43, 55)), 1200n)
  })
  test('the effective entry date is the weekday after the approval, so that nobody asks for Same Day ACH', async () => {
    const day = async (approved: string, of: Partial<Frame> = {}) => {
      const text = await written(2, 1, { at: Date.parse(approved) / 1000, ...of })
      const headers = text.split('\r\n').filter(record => record.startsWith('5'))
      assert.equal(headers.length, 2)
      const days = headers.map(record => record.slice(69, 75))
      assert.equal(days[0], days[1])
      return days[0]
    }
    assert.equal(await day('2026-11-24T10:00:00Z'), '261125')
    assert.equal(await day('2026-11-26T23:59:59Z'), '261127')
    for (const time of ['2026-11-27T00:00:00Z', '2026-11-28T12:00:00Z', '2026-11-29T23:59:59Z']) {
      assert.equal(await day(time), '261130', time)
    }
    // The day that was chosen, unless the run was approved too late for it.
    for (const [chosen, asked] of [
      ['2026-12-01', '261201'],
      ['2026-11-25', '261125'],
      ['2026-11-24', '261125'],
      ['2026-11-01', '261125'],
      ['2026-12-05', '261207'],
      ['2026-12-06', '261207'],
    ] as const) {
      const run = { ...frame.run, execution_date: Date.parse(chosen) / 1000 }
      assert.equal(await day('2026-11-24T10:00:00Z', { run }), asked, chosen)
    }
    // Files of older runs stay as they were.
    const run = { ...frame.run, reference: 'R7' }
    assert.equal(await day('2026-11-24T10:00:00Z', { run }), '261124')
  })
})

/** The amounts that files of results name: how they are read, and that none but the payment's is recorded. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertFailure, startService } from '../../../../test/harness.ts'
import type { Entries, Entry } from './entry.ts'
import { readPain002 } from './pain002.ts'
import { readPaypal } from './paypal.ts'

const report = (payments: string) =>
  `<Document><CstmrPmtStsRpt><OrgnlPmtInfAndSts>${payments}</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`

const transaction = (reference: string, amount: string) =>
  `<TxInfAndSts><OrgnlEndToEndId>${reference}</OrgnlEndToEndId><TxSts>ACSC</TxSts>${amount}</TxInfAndSts>`

const amountsOf = (entries: Entries) =>
  [...entries].flatMap(entry => (entry === undefined || 'file' in entry ? [] : [entry.amount]))

const meaningOf = (amount: Entry['amount']) =>
  amount && `${amount.values.join(' or ')} ${amount.currencies.join()}`

describe('amounts in files of results', () => {
  test('amounts: without signs and separators of thousands; every sense of one that may be either', () => {
    const amounts = (rows: readonly (readonly string[])[]) =>
      amountsOf(
        readPaypal(
          ['Unique ID;Status;Gross;Currency', ...rows.map(row => `R1A1;Completed;${row.join(';')}`)].join(
            '\n',
          ),
        ),
      ).map(meaningOf)
    assert.deepEqual(
      amounts([
        ['873.36', 'usd'],
        ['-1,234.56', 'USD'],
        ["1'234.5", ''],
        ['1.234.567,89', 'EUR'],
        ['12', 'JPY'],
        ['1,234', 'USD'],
        ['0.234', 'USD'],
        ['1,234.567', 'KWD'],
        ['12,34,567.80', 'INR'],
        ['1\u202f234,50', 'EUR'],
        ['-$ 99.00', 'USD'],
        ['99,00 \u20ac', ''],
        ['0.00', 'USD'],
        ['', 'USD'],
        ['', ''],
        ['twelve', 'USD'],
        ['1.2.3', 'USD'],
        ['1,234,5', 'USD'],
        ['1.234,567.8', 'USD'],
        [`1${'0'.repeat(60)}`, 'USD'],
      ]),
      [
        '873.36 USD',
        '1234.56 USD',
        '1234.5 ',
        '1234567.89 EUR',
        '12 JPY',
        '1234 or 1.234 USD',
        '0.234 USD',
        '1234.567 KWD',
        '1234567.8 INR',
        '1234.5 EUR',
        '99 $,USD',
        '99 \u20ac',
        '0 USD',
        ' USD',
        undefined,
        ' USD',
        ' USD',
        ' USD',
        ' USD',
        ' USD',
      ],
    )
  })

  test('pain.002: an amount has a point, and its currency is an attribute', () => {
    const amount = (element: string) =>
      amountsOf(readPain002(report(transaction('R4A1', element)))).map(meaningOf)
    const within = (text: string) => `<OrgnlTxRef><Amt>${text}</Amt></OrgnlTxRef>`
    assert.deepEqual(amount(within('<InstdAmt Ccy="EUR">12.340</InstdAmt>')), ['12.34 EUR'])
    assert.deepEqual(amount(within(`<x:InstdAmt\na="Ccy='USD'" Ccy = 'EUR'>1234</x:InstdAmt>`)), ['1234 EUR'])
    assert.deepEqual(amount(within('<InstdAmt Ccy="EUR">1,234</InstdAmt>')), [' EUR'])
    assert.deepEqual(amount(within('<InstdAmt Ccy="EUR">0</InstdAmt>')), ['0 EUR'])
    assert.deepEqual(amount(within('<InstdAmt Ccy="USD"/>')), [' USD'])
    assert.deepEqual(amount(within('<InstdAmt>7</InstdAmt>')), ['7 '])
    assert.deepEqual(amount(within('<InstdAmt>7</InstdAmt><InstdAmt>7</InstdAmt>')), [' '])
    assert.deepEqual(amount(''), [undefined])
  })
})

/** Cells of the columns amount and currency, by whether they are of the payment. */
const cases = [
  {
    engine: 'SQLite',
    currency: 'KWD',
    amount: 1.234,
    same: ['1.234', '1,234', '-1.234', '1.2340', 'KWD 1.234', '1.234;kwd', '', ';KWD'],
    others: ['1.235', '9.999', '999999.999', '1000.500', '1234.000', '1.23', '1.234;USD', ';USD'],
  },
  {
    engine: 'PostgreSQL',
    currency: 'JPY',
    amount: 1234,
    same: ['1234', '1,234', '1.234', '\u00a51234', '\uffe51,234', '1234 JPY', '1234;\u00a5', '1,234.00'],
    others: ['9,999', '9.999', '\u00a59999', '9999 JPY', '1234 USD', '$1234', '12.34', '0', '0.234'],
  },
  {
    engine: 'SQLite',
    currency: 'USD',
    amount: 12.34,
    same: ['12.34', '12,34', '$12.34', 'US$ 12.34', '12.34 USD', '12.340', '+12.34', '012.34'],
    others: [
      '99.00',
      '$99.00',
      '99.00 USD',
      '99.999',
      '0.00',
      'abc',
      '-',
      '\u20ac12.34',
      '12.34 12.34',
      '1234',
    ],
  },
] as const

for (const { engine, currency, amount, same, others } of cases) {
  test(`${engine}: of a payment in ${currency} another amount or currency is a conflict however it is written`, async t => {
    const service = await startService(engine)
    t.after(() => service.close())
    await (await service.admin()).patch('/settings', { currency })
    const { id } = await service.newAffiliate('payee', { status: 'active' })
    await service.post('/referrals', { affiliate_id: id, amount, status: 'unpaid' })
    const { body: run } = await service.post('/payout-runs')
    await service.post(`/payout-runs/${run.id}/approve`, { hash: run.hash })
    const reference = `${run.reference}A${id}`
    const record = async (content: string, format: string, dry_run: boolean) => {
      const { body } = await service.post(`/payout-runs/${run.id}/results`, { content, format, dry_run })
      return [body.recorded?.paid, body.conflicts?.length]
    }
    const tables = (written: string) => {
      const cells = written.includes(';') ? written : `${written};`
      return [
        { format: 'csv', content: `reference;status;amount;currency\n${reference};paid;${cells}` },
        { format: 'paypal', content: `Unique ID;Status;Gross;Currency\n${reference};Completed;${cells}` },
      ]
    }
    for (const [isSame, rows] of [
      [true, same],
      [false, others],
    ] as const) {
      for (const { format, content } of rows.flatMap(tables)) {
        // Others are recorded in earnest, since nothing may come of them.
        assert.deepEqual(await record(content, format, isSame), isSame ? [1, 0] : [0, 1], content)
      }
    }
    const named = (text: string, code = currency as string) =>
      report(transaction(reference, `<InstdAmt Ccy="${code}">${text}</InstdAmt>`))
    for (const content of [
      ...[`${amount}9`, `${amount}000.001`, '0', 'abc', String(amount).replace('.', ','), '9,999'].flatMap(
        text => (text === String(amount) ? [] : named(text)),
      ),
      named(String(amount), 'EUR'),
    ]) {
      assert.deepEqual(await record(content, 'pain.002', false), [0, 1], content)
    }
    const lines = [same[0], same[1], others[0]].map(text => `${reference},paid,"${text}"`)
    const several = (...chosen: readonly string[]) => ['reference,status,amount', ...chosen].join('\n')
    assert.deepEqual(await record(several(...lines.slice(0, 2)), 'csv', true), [1, 0])
    assert.deepEqual(await record(several(...lines), 'csv', false), [0, 1])
    assert.deepEqual(await record(named(String(amount)), 'pain.002', false), [1, 0])
  })
}

test('400 - an amount on the line about all others is theirs, or that of the run', async t => {
  const service = await startService('SQLite')
  t.after(() => service.close())
  const payees: number[] = []
  for (const amount of [7, 5.5]) {
    const { id } = await service.newAffiliate(`owed-${amount}`, { status: 'active' })
    await service.post('/referrals', { affiliate_id: id, amount, status: 'unpaid' })
    payees.push(id)
  }
  const { body: run } = await service.post('/payout-runs')
  await service.post(`/payout-runs/${run.id}/approve`, { hash: run.hash })
  const record = (all: string, dry_run: boolean) =>
    service.post(`/payout-runs/${run.id}/results`, {
      content: `reference,status,amount\n${run.reference}A${payees[0]},failed,\n${run.reference},paid,${all}`,
      dry_run,
    })
  for (const other of ['7.00', '99.00', '5.50 EUR']) {
    const reply = await record(other, false)
    assertFailure(reply, 400, 'rest_invalid_param')
    assert.match(reply.body.data.params.content, /come to 5.50 USD, and the whole run to 12.50 USD/)
  }
  for (const same of ['12.50', '5.50', '$5.50', '']) {
    const { body } = await record(same, true)
    assert.deepEqual([body.recorded.paid, body.recorded.failed], [1, 1], same)
  }
  assert.equal((await record('5.50', false)).body.recorded.paid, 1)
  const { body: again } = await record('5.50', false)
  assert.deepEqual([again.recorded.paid, again.unchanged], [0, 1])
})

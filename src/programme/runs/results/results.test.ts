import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { assertFailure, describeService } from '../../../../test/harness.ts'
import { reportOf } from '../report.ts'
import { readCsv } from './csv.ts'
import type { Entries, Entry } from './entry.ts'
import { readNacha } from './nacha.ts'
import { readPain002 } from './pain002.ts'
import { readPaypal } from './paypal.ts'

const report = (body: string, group = '') =>
  `<?xml version="1.0" encoding="UTF-8"?>
  <Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.002.001.10"><CstmrPmtStsRpt>
  <OrgnlGrpInfAndSts><OrgnlMsgId>RUN-4-1</OrgnlMsgId>${group}</OrgnlGrpInfAndSts>
  <OrgnlPmtInfAndSts>${body}</OrgnlPmtInfAndSts></CstmrPmtStsRpt></Document>`

const transaction = (reference: string, status: string, reason = '') =>
  `<TxInfAndSts><OrgnlEndToEndId>${reference}</OrgnlEndToEndId><TxSts>${status}</TxSts>${
    reason && `<StsRsnInf><Rsn><Cd>${reason}</Cd></Rsn><AddtlInf>closed &amp; gone</AddtlInf></StsRsnInf>`
  }</TxInfAndSts>`

/** Without the name of the file that is answered. */
const entriesOf = (entries: Entries): Entry[] =>
  [...entries].flatMap(entry => (entry === undefined || 'file' in entry ? [] : entry))

const wrong = (read: (content: string) => Entries, content: string, named: RegExp) =>
  assert.throws(
    () => [...read(content)],
    (error: Error) => named.test(error.message),
    content.slice(0, 80),
  )

describe('what comes back from banks and PayPal', () => {
  test('pain.002: what was accepted is not paid, and what was rejected says why', () => {
    const body = ['ACSC', 'ACSP', 'ACTC'].map((status, index) => transaction(`R4A${index}`, status)).join('')
    assert.deepEqual(entriesOf(readPain002(report(body + transaction('R4A9', 'RJCT', 'AC04')))), [
      { reference: 'R4A0', outcome: 'paid', note: '' },
      { reference: 'R4A1', outcome: undefined, note: '' },
      { reference: 'R4A2', outcome: undefined, note: '' },
      { reference: 'R4A9', outcome: 'failed', note: 'AC04 closed & gone' },
    ])
    const rejected = report('', '<GrpSts>RJCT</GrpSts><StsRsnInf><Rsn><Cd>FF01</Cd></Rsn></StsRsnInf>')
    const [all] = entriesOf(readPain002(rejected))
    assert.deepEqual(all, { reference: 'RUN-4-1', outcome: 'failed', note: 'FF01' })
    const group = '<OrgnlPmtInfId>RUN-4-1</OrgnlPmtInfId><PmtInfSts>RJCT</PmtInfSts>'
    const reason = '<StsRsnInf><Rsn><Cd>AM04</Cd></Rsn></StsRsnInf>'
    assert.deepEqual(
      entriesOf(
        readPain002(report(group + reason + transaction('R4A1', 'RJCT', 'AC04'), '<GrpSts>ACTC</GrpSts>')),
      ),
      [
        { reference: 'RUN-4-1', outcome: undefined, note: '' },
        { reference: 'R4A1', outcome: 'failed', note: 'AC04 closed & gone' },
        { reference: 'RUN-4-1', outcome: 'failed', note: 'AM04' },
      ],
    )
  })

  test('pain.002: the verification of payees, and what is not final, says nothing of the money', () => {
    const statuses = ['RCVC', 'RVCM', 'RVMC', 'RVNM', 'RVNA', 'RVNC', 'ACFW', 'ACPD', 'BLCK']
    const body = statuses.map(status => transaction(`R4A${status}`, status)).join('')
    assert.deepEqual(
      entriesOf(readPain002(report(body, '<GrpSts>RVCM</GrpSts>'))).filter(({ reference }) =>
        reference.startsWith('R4A'),
      ),
      statuses.map(status => ({ reference: `R4A${status}`, outcome: undefined, note: '' })),
    )
  })

  test('pain.002: entities, document types and what is cut off are errors', () => {
    const whole = report(transaction('R4A1', 'ACSC'))
    wrong(readPain002, `<!DOCTYPE a [<!ENTITY x SYSTEM "file:///etc/passwd">]><a>&x;</a>`, /document type/)
    wrong(readPain002, whole.replace('R4A1', '&unknown;'), /entity unknown/)
    wrong(readPain002, whole.slice(0, -20), /well-formed/)
    wrong(readPain002, whole.replace('</TxSts>', '</Other>'), /well-formed/)
    wrong(readPain002, whole.replace('ACSC', 'WHAT'), /WHAT/)
    wrong(readPain002, '<a></a>', /CstmrPmtStsRpt/)
    wrong(readPain002, '<a>'.repeat(1000), /within one another/)
    wrong(readPain002, 'not XML', /well-formed/)
    wrong(readPain002, '', /well-formed/)
    const [declaration, document] = whole.split(/(?<=\?>)/)
    for (const broken of [
      `${whole}and more`,
      `${whole}<!-- more -->&amp;`,
      `${whole}${whole}`,
      `${whole}${document}`,
      `${whole}<a/>`,
      `${whole}<![CDATA[]]>`,
      `before${document}`,
      document!.replace('</TxSts>', `${declaration}</TxSts>`),
      document!.replace('</TxSts>', '</TxSts/>'),
    ]) {
      wrong(readPain002, broken, /well-formed/)
    }
    const around = `${declaration}<!-- a -->\n${document}\r\n\t<!-- b -->\n`
    for (const same of [around, `\n${whole}`, document!.replace('<TxSts>', '<Empty/><Empty /><TxSts>')]) {
      assert.deepEqual(entriesOf(readPain002(same)), [{ reference: 'R4A1', outcome: 'paid', note: '' }])
    }
  })

  test('one of several files of a run: it stands for no payment of the others', async () => {
    const run: any = { id: 4, reference: 'R4KQXT', method: 'paypal', payees: 5001, excluded: 0, amount: 1 }
    const wholeOf = async (reference: string, of = run) => {
      const said = await reportOf(readCsv(`reference,status\n${reference},paid`), of)
      return [
        said.whole?.outcome,
        said
          .takeContradictions()
          .map(({ reason }) => reason)
          .join(),
      ]
    }
    const several = 'has 2 files, and R4KQXT-2 is one of them: name its payments one by one.'
    assert.deepEqual(await wholeOf('r4kqxt-2'), [undefined, several])
    assert.deepEqual(await wholeOf('R4KQXT'), ['paid', ''])
    assert.deepEqual(await wholeOf('R4KQXT-1', { ...run, payees: 5000 }), ['paid', ''])
    // There is no such file.
    for (const reference of ['R4KQXT-3', 'R4KQXT-0'])
      await assert.rejects(wholeOf(reference), /must name payments by the references/)
  })

  test('PayPal: columns by their names, and only what is final', () => {
    const head = 'Transaction ID,Recipient,Unique ID,Transaction Status'
    assert.deepEqual(
      entriesOf(
        readPaypal(`\uFEFF${head}\r\n1,"a, b",R1A1,Completed\r\n2,b,R1A2,Unclaimed\r\n3,c,R1A3,Returned\r\n`),
      ),
      [
        { reference: 'R1A1', outcome: 'paid', note: '1' },
        { reference: 'R1A2', outcome: undefined, note: '2' },
        { reference: 'R1A3', outcome: 'returned', note: '3' },
      ],
    )
    wrong(readPaypal, `${head}\n1,a,R1A1,Odd`, /line 2: the status odd/)
    wrong(readPaypal, 'a,b\n1,2', /Unique ID/)
    wrong(readCsv, 'Referenz;Status\nR1A1;paid', /reference and status, with commas, semicolons or tabs/)
    wrong(readCsv, 'Referenz;Status\nR1A1;paid', /it has referenz, status/)
    wrong(readCsv, 'reference,status,Status\nR1A1,paid,failed', /two columns of the name status/)
  })

  test('CSV and PayPal: a line that is cut off, or has no status, is an error that names it', () => {
    const head = 'status,reference,amount,note'
    const whole = `${head}\npaid,R1A11,150.70,x`
    for (const content of [
      `${whole}\npaid,R1A3`,
      `${whole}\npaid,R1A3\n`,
      `${whole}\n"paid","R1A3"\r\n`,
      `${whole}\npaid,R1A31,15`,
      `${whole}\npaid,R1A31,"15"`,
      `${whole}\npaid\npaid,R1A31,15,y`,
    ]) {
      wrong(readCsv, content, /line 3 has [123] of the 4 cells .*cut off/)
    }
    wrong(readPaypal, 'Unique ID,Status,Note,Gross\nR1A1,Completed,x', /line 2 has 3 of the 4 cells/)
    // Excel, of a column that is empty in several lines; and lines without anything.
    const plain = `${whole}\n\npaid,R1A3,150.70\n"paid","R1A4","7"\r\n,,,\npaid,R1A5,,\n,\n\n`
    assert.deepEqual(
      entriesOf(readCsv(plain)).map(({ reference }) => reference),
      ['R1A11', 'R1A3', 'R1A4', 'R1A5'],
    )
    assert.equal(entriesOf(readCsv('reference,status,note,,\nR1A1,paid,x')).length, 1)
    wrong(readCsv, `${whole}\n,R1A3,150.70,x`, /line 3 has no status/)
    wrong(readPaypal, 'Unique ID,Status\nR1A1, ', /line 2 has no status/)
  })

  test('CSV: a first line that names the separator for Excel is taken as what it says', () => {
    for (const [first, separator] of [
      ['sep=;\r\n', ';'],
      ['\uFEFFSEP=,\n', ','],
      ['"sep=\t"\r', '\t'],
    ] as const) {
      const head = ['reference', 'status', '"a, b; c"'].join(separator)
      const row = ['R1A1', 'paid', '1'].join(separator)
      assert.deepEqual(entriesOf(readCsv(`${first}${head}\n${row}`)), [
        { reference: 'R1A1', outcome: 'paid', note: '' },
      ])
      wrong(readCsv, `${first}${head}\n${row}\nR1A2${separator}${separator}x`, /line 4 has no status/)
    }
    wrong(readCsv, 'sep=|\nreference|status\nR1A1|paid', /it has sep=\|/)
  })

  test('ACH returns: the reason, and no more than the file says', () => {
    const line = (text: string) => text.padEnd(94)
    const entry = line(`626${'0'.repeat(26)}0000009990${'R4A7'.padEnd(15)}`)
    const amount = { text: '99.90', values: ['99.9'], currencies: ['USD'] }
    const file = [
      line('101'),
      line('5200'),
      entry,
      line('799R01'),
      entry,
      line('798C01'),
      line('8200'),
      line('9'),
    ]
    assert.deepEqual(entriesOf(readNacha(file.join('\n'))), [
      { reference: 'R4A7', outcome: 'returned', note: 'R01', amount },
      { reference: 'R4A7', outcome: undefined, note: '', amount },
    ])
    const free = entry.replace('0000009990', '0000000000')
    const [{ amount: nothing } = {}] = entriesOf(readNacha(file.with(2, free).join('\n')))
    assert.equal(nothing?.text, '0.00')
    wrong(readNacha, file.slice(0, 5).join('\n'), /cut off/)
    wrong(readNacha, `${line('101')}\n6 short`, /line 2 must have 94/)
    wrong(readNacha, 'reference,status', /ACH file/)
  })

  test('what is too long is refused before it is read, and names of JavaScript mean nothing', () => {
    const many = 5_000_000
    wrong(readPain002, `<a>${'&amp;'.repeat(many)}</a>`, /more than 10000 characters/)
    wrong(readPain002, `<a>${'<![CDATA[x]]>'.repeat(many / 10)}</a>`, /more than 10000 characters/)
    wrong(readPain002, `<a ${' '.repeat(many)}>`, /more than 10000 characters/)
    wrong(readPain002, `<!-- ${' '.repeat(many)}`, /well-formed/)
    wrong(readCsv, `reference,status\n${'"'.repeat(many + 1)}`, /too long/)
    wrong(readCsv, '"'.repeat(many), /too long/)
    wrong(readCsv, `reference,status\n"open`, /closed by the quote/)
    const commented = report(`<!-- ${'<'.repeat(20_000)} -->${transaction('R4A1', 'ACSC')}`)
    assert.equal(entriesOf(readPain002(commented))[0]?.outcome, 'paid')
    const quoted = `reference,status,note\n"R1A1","paid","${'""'.repeat(9000)}"\n`
    assert.equal(entriesOf(readCsv(quoted))[0]?.outcome, 'paid')
    for (const name of ['toString', 'valueOf']) {
      wrong(readPain002, `<a>&${name};</a>`, /not one of XML/)
      wrong(readPain002, report(transaction('R4A1', name)), new RegExp(name))
      wrong(readPaypal, `Unique ID,Status\nR1A1,${name}`, /not known/)
      const within = `<${name}><TxSts>ACSC</TxSts></${name}>`
      assert.deepEqual(entriesOf(readPain002(report(within + transaction('R4A1', 'ACSC')))).length, 1)
    }
  })

  test('CSV: a million commas and an open quote end in an error, soon', () => {
    wrong(readCsv, `reference,status\n"${'x,'.repeat(500_000)}`, /closed by the quote|too long/)
    wrong(readCsv, ','.repeat(1_000_000), /too long/)
  })
})

describeService('results of a payout run', service => {
  test('200 - a file that was rejected whole fails every payment; another encoding or run is an error', async () => {
    const ids: number[] = []
    for (const name of ['one', 'two']) {
      const { id } = await service().newAffiliate(name, { status: 'active' })
      await service().post('/referrals', { affiliate_id: id, amount: 7, status: 'unpaid' })
      ids.push(id)
    }
    const { body: run } = await service().post('/payout-runs')
    await service().post(`/payout-runs/${run.id}/approve`, { hash: run.hash })
    const record = (content: string, format = 'pain.002') =>
      service().post(`/payout-runs/${run.id}/results`, { content, format })
    const whole = report('', '<GrpSts>RJCT</GrpSts>')
    assertFailure(await record(whole.replace('RUN-4-1', 'RUN-999-1')), 400, 'rest_invalid_param')
    // Another company's file, with a group and a payment that are named as ours are.
    // Another installation counts its runs as this one does.
    const theirs = run.reference.replace(/[A-Z]{4}$/, (letters: string) =>
      letters === 'ZZZZ' ? 'XXXX' : 'ZZZZ',
    )
    assert.match(run.reference, /^R\d+[B-Z]{4}$/)
    for (const other of [`R${run.id}A${ids[0]}`, `${theirs}A${ids[0]}`]) {
      assertFailure(await record(`reference,status\n${other},paid`, 'csv'), 400, 'rest_invalid_param')
    }
    assertFailure(await record(whole.replace('RUN-4-1', `${theirs}-1`)), 400, 'rest_invalid_param')
    const named = `<OrgnlPmtInfId>${run.reference}-1</OrgnlPmtInfId><PmtInfSts>RJCT</PmtInfSts>`
    const foreign = report(named + transaction(`${run.reference}A${ids[0]}`, 'RJCT')).replace(
      'RUN-4-1',
      'OTHER-7',
    )
    assert.match(
      (await record(foreign)).body.data.params.content,
      /answers the file OTHER-7, which is none of this run/,
    )
    assertFailure(await record('reference,status\nR1\uFFFD,paid', 'csv'), 400, 'rest_invalid_param')
    const accepted = await record(
      report('', `<GrpSts>ACTC</GrpSts>`).replace('RUN-4-1', `${run.reference}-1`),
    )
    assert.equal(accepted.body.ignored, 1, JSON.stringify(accepted.body))
    const large = await record(`reference,status\n${'x'.repeat(2_000_000)},paid`, 'csv')
    assert.match(large.body.data.params.content, /too long/)
    const larger = await record('x'.repeat(33_554_433), 'csv')
    assert.equal(larger.body.data.params.content, 'must be text, at most 32 MiB.')
    const strange = Array.from({ length: 10_003 }, (_, index) => `${run.reference}A${1e6 + index},paid`)
    const many = await record(`reference,status\n${strange.join('\n')}`, 'csv')
    assert.match(many.body.data.params.content, /more payments than the 2/)
    const reply = await record(whole.replace('RUN-4-1', `${run.reference}-1`))
    assert.equal(reply.body.recorded.failed, 2, JSON.stringify(reply.body))
    const again = await record(whole.replace('RUN-4-1', `${run.reference}-1`))
    assert.equal(again.body.recorded.failed, 0)
    assert.equal(
      (await service().get(`/payout-runs/${run.id}`)).body.last_results,
      'A file (pain.002): 2 failed',
    )
    const { body } = await service().get(`/affiliates/${ids[0]}/balances`)
    assert.deepEqual([body.unpaid, body.reserved], [7, 0])
  })

  test('200 - the history says of how many lines nothing is recorded, and of most of them at least', async () => {
    const { id } = await service().newAffiliate('told', { status: 'active' })
    await service().post('/referrals', { affiliate_id: id, amount: 7, status: 'unpaid' })
    const { body: run } = await service().post('/payout-runs')
    await service().post(`/payout-runs/${run.id}/approve`, { hash: run.hash })
    const told = async (status: string, strangers: number) => {
      const lines = Array.from({ length: strangers }, (_, index) => `${run.reference}A${1e6 + index},paid`)
      const content = `reference,status\n${run.reference}A${id},${status}\n${lines.join('\n')}`
      const { body } = await service().post(`/payout-runs/${run.id}/results`, { content })
      return [
        body.unknown_references.length,
        (await service().get(`/payout-runs/${run.id}`)).body.last_results,
      ]
    }
    assert.deepEqual(await told('unknown', 1), [1, 'A file (csv): 1 unknown; nothing of one other line'])
    assert.deepEqual(await told('paid', 130), [
      100,
      'A file (csv): 1 paid; nothing of at least 100 other lines',
    ])
    assert.deepEqual(await told('returned', 99), [99, 'A file (csv): 1 returned; nothing of 99 other lines'])
  })

  test('200 - that all others were paid pays nobody whose payment is unknown, and a rejection of all fails it', async () => {
    const references: string[] = []
    for (const name of ['sure', 'unsure']) {
      const { id } = await service().newAffiliate(name, { status: 'active' })
      await service().post('/referrals', { affiliate_id: id, amount: 7, status: 'unpaid' })
      references.push(`A${id}`)
    }
    const { body: run } = await service().post('/payout-runs')
    await service().post(`/payout-runs/${run.id}/approve`, { hash: run.hash })
    const record = async (reference: string, status: string) => {
      const content = `reference,status\n${reference},${status}`
      return (await service().post(`/payout-runs/${run.id}/results`, { content })).body.recorded
    }
    assert.equal((await record(run.reference + references[1], 'unknown')).unknown, 1)
    assert.equal((await record(run.reference, 'paid')).paid, run.payees - 1)
    const { body: items } = await service().get(`/payout-runs/${run.id}/items?status=unknown`)
    assert.deepEqual(
      items.map(({ reference }: { reference: string }) => reference),
      [run.reference + references[1]],
    )
    assert.equal((await record(run.reference, 'failed')).failed, 1)
  })

  test('200 - what a bank says of one payment counts before what it says of all', async () => {
    const ids: number[] = []
    for (const name of ['settled', 'way', 'silent']) {
      const { id } = await service().newAffiliate(name, { status: 'active' })
      await service().post('/referrals', { affiliate_id: id, amount: 7, status: 'unpaid' })
      ids.push(id)
    }
    const { body: run } = await service().post('/payout-runs')
    await service().post(`/payout-runs/${run.id}/approve`, { hash: run.hash })
    const of = (index: number) => `${run.reference}A${ids[index]}`
    const payments = transaction(of(0), 'ACSC') + transaction(of(1), 'ACSP')
    const groups = [
      report(payments, '<GrpSts>RJCT</GrpSts>'),
      report(`<OrgnlPmtInfId>RUN-4-1</OrgnlPmtInfId><PmtInfSts>RJCT</PmtInfSts>${payments}`),
    ]
    for (const [index, content] of groups.entries()) {
      const reply = await service().post(`/payout-runs/${run.id}/results`, {
        content: content.replaceAll('RUN-4-1', `${run.reference}-1`),
        format: 'pain.002',
      })
      assert.deepEqual(
        [reply.body.recorded.paid, reply.body.conflicts, reply.body.unchanged],
        index === 0 ? [1, [], 0] : [0, [], 1],
      )
      const { body: items } = await service().get(`/payout-runs/${run.id}/items?number=-1`)
      const statuses = ids.map(id => items.find((item: any) => item.affiliate_id === id).status)
      assert.deepEqual(statuses, ['paid', 'reserved', 'failed'])
    }
  })

  test('200 - a payment is known by its instruction as well, and one without a reference is named as such', async () => {
    const { id } = await service().newAffiliate('instructed', { status: 'active' })
    await service().post('/referrals', { affiliate_id: id, amount: 7, status: 'unpaid' })
    const { body: run } = await service().post('/payout-runs')
    await service().post(`/payout-runs/${run.id}/approve`, { hash: run.hash })
    const record = async (content: string, format: string) => {
      const { body } = await service().post(`/payout-runs/${run.id}/results`, {
        content: content.replaceAll('RUN-4-1', `${run.reference}-1`),
        format,
        dry_run: true,
      })
      return [body.recorded.paid, body.unknown_references]
    }
    const reference = `${run.reference}A${id}`
    const instruction = `<OrgnlInstrId>${reference}</OrgnlInstrId>`
    const answer = (...names: string[]) =>
      report(names.map(name => `<TxInfAndSts>${name}<TxSts>ACSC</TxSts></TxInfAndSts>`).join(''))
    const none = '(without a reference)'
    assert.deepEqual(await record(answer(instruction, ''), 'pain.002'), [1, [none]])
    assert.deepEqual(await record(answer(`${instruction}<OrgnlEndToEndId></OrgnlEndToEndId>`), 'pain.002'), [
      1,
      [],
    ])
    const other = '<OrgnlEndToEndId>NOT-OURS</OrgnlEndToEndId>'
    assert.deepEqual(await record(answer(instruction, instruction + other), 'pain.002'), [1, ['NOT-OURS']])
    const table = `reference,status\n${reference},paid\n,paid\n`
    assert.deepEqual(await record(table, 'csv'), [1, [none]])
  })

  test('200 - another amount or currency than that of the payment is a conflict, and nothing of it is recorded', async () => {
    const payees: number[] = []
    for (const name of ['right', 'less', 'elsewhere']) {
      const { id } = await service().newAffiliate(name, { status: 'active' })
      await service().post('/referrals', { affiliate_id: id, amount: 1234.5, status: 'unpaid' })
      payees.push(id)
    }
    const { body: run } = await service().post('/payout-runs')
    await service().post(`/payout-runs/${run.id}/approve`, { hash: run.hash })
    const lines = [
      ['1,234.50', 'USD'],
      ['1.00', 'USD'],
      ['1234.50', 'EUR'],
    ]
    const content = [
      'Unique ID;Status;Amount;Currency',
      ...lines.map((line, place) => `${run.reference}A${payees[place]};Completed;${line.join(';')}`),
    ].join('\n')
    for (const dry_run of [true, false]) {
      const { body } = await service().post(`/payout-runs/${run.id}/results`, {
        content,
        format: 'paypal',
        dry_run,
      })
      assert.equal(body.recorded.paid, 1)
      assert.deepEqual(
        body.conflicts.map((one: any) => [one.affiliate_id, one.reason]),
        [
          [
            payees[1],
            'is of 1.00 USD in this file, and of 1234.50 USD in the run: record by hand what became of it.',
          ],
          [
            payees[2],
            'is of 1234.50 EUR in this file, and of 1234.50 USD in the run: record by hand what became of it.',
          ],
        ],
      )
    }
    const twice = ['7.00', '1234.50'].map(amount => `${run.reference}A${payees[1]},paid,${amount},€`)
    const { body: both } = await service().post(`/payout-runs/${run.id}/results`, {
      content: ['reference,status,amount,currency', ...twice].join('\n'),
    })
    assert.match(both.conflicts[0].reason, /^is of 7.00 and of 1234.50 in this file/)
    const { body: items } = await service().get(`/payout-runs/${run.id}/items?number=-1`)
    assert.deepEqual(
      payees.map(id => items.find((item: any) => item.affiliate_id === id).status),
      ['paid', 'reserved', 'reserved'],
    )
  })

  test('200 - a line with the reference of the run is about all that no other line names', async () => {
    const payees = await Promise.all(
      ['first', 'second', 'third'].map(async name => {
        const { id } = await service().newAffiliate(name, { status: 'active' })
        await service().post('/referrals', { affiliate_id: id, amount: 7, status: 'unpaid' })
        return id as number
      }),
    )
    const { body: run } = await service().post('/payout-runs')
    await service().post(`/payout-runs/${run.id}/approve`, { hash: run.hash })
    const record = (...lines: string[]) =>
      service().post(`/payout-runs/${run.id}/results`, { content: ['reference,status', ...lines].join('\n') })
    const other = run.reference.replace(/.$/, (letter: string) => (letter === 'B' ? 'C' : 'B'))
    assertFailure(await record(`${other},paid`), 400, 'rest_invalid_param')
    const reply = await record(`${run.reference},paid`, `${run.reference}A${payees[1]},failed`)
    assert.deepEqual(reply.body.recorded, { paid: run.payees - 1, failed: 1, returned: 0, unknown: 0 })
    const again = await record(`${run.reference.toLowerCase()},returned`)
    assert.deepEqual(again.body.recorded, { paid: 0, failed: 0, returned: 0, unknown: 0 })
    const balances = await Promise.all(payees.map(id => service().get(`/affiliates/${id}/balances`)))
    assert.deepEqual(
      balances.map(({ body }) => body.unpaid),
      [0, 7, 0],
    )
  })

  test('200 - lines about the whole run that contradict each other are a conflict, and nothing of them is recorded', async () => {
    const payees: number[] = []
    for (const name of ['named', 'unnamed']) {
      const { id } = await service().newAffiliate(name, { status: 'active' })
      await service().post('/referrals', { affiliate_id: id, amount: 7, status: 'unpaid' })
      payees.push(id)
    }
    const { body: run } = await service().post('/payout-runs')
    await service().post(`/payout-runs/${run.id}/approve`, { hash: run.hash })
    const one = `${run.reference}A${payees[0]}`
    const group = `<OrgnlPmtInfId>${run.reference}-1</OrgnlPmtInfId><PmtInfSts>`
    const answer = (groupStatus: string, status: string, payment = '') =>
      report(`${group}${status}</PmtInfSts>${payment}`, `<GrpSts>${groupStatus}</GrpSts>`).replace(
        'RUN-4-1',
        `${run.reference}-1`,
      )
    const table = (...lines: string[]) => ['reference,status,amount', ...lines].join('\n')
    const results = async (content: string, dry_run = false) => {
      const format = content.startsWith('<') ? 'pain.002' : 'csv'
      const { body } = await service().post(`/payout-runs/${run.id}/results`, { content, format, dry_run })
      return [body.recorded, body.conflicts.map((one: any) => [one.reference, one.affiliate_id, one.reason])]
    }
    const none = { paid: 0, failed: 0, returned: 0, unknown: 0 }
    const which = 'in this file: record by hand which of them is true.'
    for (const [content, reason] of [
      [table(`${run.reference},paid,`, `${run.reference},failed,`), `is both paid and failed ${which}`],
      [
        table(`${run.reference},failed,`, `${run.reference},paid,`, `${run.reference},paid,`),
        `is both failed and paid ${which}`,
      ],
      [
        table(`${run.reference},paid,99.00`, `${run.reference},paid,14.00`),
        'is of 99.00 and of 14.00 in this file: record by hand what became of it.',
      ],
      [answer('RJCT', 'ACSP'), `is both RJCT and ACSP ${which}`],
      [answer('ACSC', 'RJCT'), `is both ACSC and RJCT ${which}`],
    ] as const) {
      assert.deepEqual(await results(content), [none, [[run.reference, 0, reason]]], content)
    }
    assert.deepEqual(await results(answer('ACTC', 'RJCT'), true), [{ ...none, failed: run.payees }, []])
    const [recorded, conflicts] = await results(answer('RJCT', 'ACSP', transaction(one, 'ACSC')))
    assert.deepEqual([recorded, conflicts.length], [{ ...none, paid: 1 }, 1])
    assert.deepEqual(await results(table(`${run.reference},paid,`, `${run.reference},unknown,`)), [
      { ...none, paid: run.payees - 1 },
      [],
    ])
  })
})

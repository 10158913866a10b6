import assert from 'node:assert/strict'
import { readFile } from 'node:fs/promises'
import { describe, test } from 'node:test'
// @ts-expect-error It has no types.
import nach2 from 'nach2'
import { assertFailure, dayFromNow, describeService, giveSecretKey } from '../../../../test/harness.ts'
import { addSepaPayees } from '../../../../test/sepa-payees.ts'
import { isBankOrder, methods } from '../words.ts'
import type { Frame, Line } from './format.ts'
import { formatOf } from './formats.ts'
import { nacha } from './nacha.ts'
import { sepa } from './sepa.ts'

const IBANS = ['DE89370400440532013000', 'FR1420041010050500013M02606', 'NL91ABNA0417164300']

const frame: Frame = {
  run: {
    id: 7,
    reference: 'R7',
    note: "Commission 10/2026: it's paid",
    method: 'sepa',
    execution_date: null,
  },
  at: 1_793_000_000,
  payer: {
    name: 'SHOP INC',
    iban: IBANS[0]!,
    bic: 'COBADEFFXXX',
    bank: 'FIRST BANK',
    routing: '021000021',
    companyId: '1234567890',
  },
  currency: 'EUR',
  decimals: 2,
  part: 1,
  count: 2,
  sum: 2011n,
  columns: [],
}

const payee = (number: number, account: Line['account'], more: Partial<Line> = {}): Line => ({
  id: number,
  affiliate_id: number,
  amount: 1000 + number,
  reference: `R7A${number}`,
  payee_name: `Payee ${number}`,
  payee_account: '',
  account,
  ...more,
})

async function written(format: typeof sepa, frame: Frame, lines: readonly Line[]): Promise<string> {
  let text = ''
  const all = format.write(frame, async function* () {
    yield lines
  })
  for await (const piece of all) text += piece
  return text
}

test('the methods whose file is an order to a bank are those whose file names the payer', () => {
  assert.deepEqual(
    methods.filter(isBankOrder),
    methods.filter(method => formatOf(method).problemsOfPayer),
  )
})

describe('files of banks, by what others say of them', () => {
  test('pain.001.001.09: the very text that the schemas of the EPC take (EPC132-08 of 2023 and of 2025)', async () => {
    const lines = [
      payee(5, { iban: IBANS[1]!, bic: 'BNPAFRPP' }, { payee_name: "Anna O'Neil" }),
      payee(6, { iban: IBANS[2]! }),
    ]
    const expected = `<?xml version="1.0" encoding="UTF-8"?>
<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain.001.001.09"><CstmrCdtTrfInitn><GrpHdr><MsgId>RUN-7-1</MsgId><CreDtTm>2026-10-26T07:33:20</CreDtTm><NbOfTxs>2</NbOfTxs><CtrlSum>20.11</CtrlSum><InitgPty><Nm>SHOP INC</Nm></InitgPty></GrpHdr><PmtInf><PmtInfId>RUN-7-1</PmtInfId><PmtMtd>TRF</PmtMtd><BtchBookg>true</BtchBookg><NbOfTxs>2</NbOfTxs><CtrlSum>20.11</CtrlSum><PmtTpInf><SvcLvl><Cd>SEPA</Cd></SvcLvl></PmtTpInf><ReqdExctnDt><Dt>2026-10-26</Dt></ReqdExctnDt><Dbtr><Nm>SHOP INC</Nm></Dbtr><DbtrAcct><Id><IBAN>DE89370400440532013000</IBAN></Id></DbtrAcct><DbtrAgt><FinInstnId><BICFI>COBADEFFXXX</BICFI></FinInstnId></DbtrAgt><ChrgBr>SLEV</ChrgBr>
<CdtTrfTxInf><PmtId><InstrId>R7A5</InstrId><EndToEndId>R7A5</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">10.05</InstdAmt></Amt><CdtrAgt><FinInstnId><BICFI>BNPAFRPP</BICFI></FinInstnId></CdtrAgt><Cdtr><Nm>Anna O&apos;Neil</Nm></Cdtr><CdtrAcct><Id><IBAN>FR1420041010050500013M02606</IBAN></Id></CdtrAcct><RmtInf><Ustrd>Commission 10/2026: it&apos;s paid</Ustrd></RmtInf></CdtTrfTxInf>
<CdtTrfTxInf><PmtId><InstrId>R7A6</InstrId><EndToEndId>R7A6</EndToEndId></PmtId><Amt><InstdAmt Ccy="EUR">10.06</InstdAmt></Amt><Cdtr><Nm>Payee 6</Nm></Cdtr><CdtrAcct><Id><IBAN>NL91ABNA0417164300</IBAN></Id></CdtrAcct><RmtInf><Ustrd>Commission 10/2026: it&apos;s paid</Ustrd></RmtInf></CdtTrfTxInf>
</PmtInf></CstmrCdtTrfInitn></Document>
`
    assert.equal(await written(sepa, frame, lines), expected)
    // The day that was chosen, unless the run was approved after it.
    for (const [chosen, asked] of [
      ['2026-11-01', '2026-11-01'],
      ['2026-10-26', '2026-10-26'],
      ['2026-10-25', '2026-10-26'],
    ] as const) {
      const run = { ...frame.run, execution_date: Date.parse(chosen) / 1000 }
      assert.equal(
        await written(sepa, { ...frame, run }, lines),
        expected.replace('<Dt>2026-10-26</Dt>', `<Dt>${asked}</Dt>`),
      )
    }
  })

  test('ACH: another library writes the same records, with the same counts, hashes and totals', async () => {
    const routings = ['011401533', '091000019', '121042882']
    const lines = routings.map((routingNumber, index) =>
      payee(index, {
        routingNumber,
        accountNumber: `00012345${index}`,
        accountType: index === 0 ? 'savings' : 'checking',
        company: index === 1,
      }),
    )
    const { payer } = frame
    const [day, time] = ['261026', '0733']
    const file = new nach2.File({
      immediateDestination: payer.routing,
      immediateDestinationName: payer.bank,
      immediateOrigin: payer.companyId,
      immediateOriginName: payer.name,
      fileCreationDate: day,
      fileCreationTime: time,
      referenceCode: 'RUN7',
      batchSequenceNumber: 1,
    })
    let number = 0
    for (const kind of ['PPD', 'CCD']) {
      const batch = new nach2.Batch({
        serviceClassCode: '220',
        standardEntryClassCode: kind,
        companyName: payer.name,
        companyIdentification: payer.companyId,
        companyEntryDescription: 'PAYOUT',
        companyDescriptiveDate: day,
        effectiveEntryDate: new Date(frame.at * 1000),
        originatingDFI: payer.routing,
      })
      for (const { account, amount, reference, payee_name } of lines) {
        if (account.company !== (kind === 'CCD')) continue
        number += 1
        const entry = new nach2.Entry({
          transactionCode: account.accountType === 'savings' ? '32' : '22',
          receivingDFI: account.routingNumber,
          DFIAccount: account.accountNumber,
          amount: String(amount / 100),
          idNumber: reference,
          individualName: payee_name,
          discretionaryData: '  ',
        })
        entry.fields.traceNumber.value = payer.routing.slice(0, 8) + String(number).padStart(7, '0')
        batch.addEntry(entry)
      }
      file.addBatch(batch)
    }
    const theirs: string = await new Promise(resolve => file.generateFile(resolve))
    const ours = await written(nacha, { ...frame, run: { ...frame.run, note: '' } }, lines)
    assert.deepEqual(ours.split('\r\n').slice(0, -1), theirs.split(/\r?\n/))
  })
})

describeService('the files of a payout run', service => {
  giveSecretKey()
  const owe = (affiliate_id: number, amount: number) =>
    service().post('/referrals', { affiliate_id, amount, status: 'unpaid' })
  const enter = (affiliate_id: number, details: object) =>
    service().post('/payment-details', { affiliate_id, ...details })
  const items = async (id: number) => (await service().get(`/payout-runs/${id}/items?number=-1`)).body
  const approved = async (args: object) => {
    const { body: run } = await service().post('/payout-runs', args)
    const reply = await service().post(`/payout-runs/${run.id}/approve`, { hash: run.hash })
    assert.equal(reply.body.status, 'approved', JSON.stringify([run, reply.body]))
    return reply.body
  }
  const file = async (id: number, format: string) => {
    const first = await service().get(`/payout-runs/${id}/files/${format}`)
    assert.equal(first.status, 200, JSON.stringify(first.body))
    assert.equal((await service().get(`/payout-runs/${id}/files/${format}`)).body, first.body)
    return first.body as string
  }
  const people = async (names: readonly string[]): Promise<number[]> => {
    const ids = []
    for (const name of names) ids.push((await service().newAffiliate(name, { status: 'active' })).id)
    return ids
  }
  const cancelled = (id: number) => service().post(`/payout-runs/${id}/cancel`, { not_handed_over: true })

  test('payment details are sealed, masked, checked, and wait after a change', async () => {
    const [id] = (await people(['sealed'])) as [number]
    for (const [details, wrong] of [
      [{ method: 'sepa', iban: 'DE89370400440532013001', holder: 'A B' }, ['iban']],
      // Right check digits, but not an account of its country.
      [{ method: 'sepa', iban: 'DE863704004405320130', holder: 'A B' }, ['iban']],
      [{ method: 'sepa', iban: 'XX46370400440532013000', bic: 'ABCDXX22', holder: 'A' }, ['iban', 'bic']],
      [{ method: 'sepa' }, ['iban', 'holder']],
      [{ method: 'sepa', iban: 'DE89370400440532013000', holder: 'Anna Schäfer' }, ['holder']],
      [{ method: 'paypal', paypal_email: 'finn@example.com', holder: '=Finn' }, ['holder']],
      [
        { method: 'nacha', routing_number: '021000022', account_number: '1', holder: 'A' },
        ['routing_number'],
      ],
      [{ method: 'nacha', routing_number: '021000021', account_number: '1', holder: '  ' }, ['holder']],
      [{ method: 'nacha', routing_number: '021000021', account_number: '1', holder: ' A' }, ['holder']],
      [{ method: 'paypal' }, ['paypal_email']],
    ] as const) {
      const reply = await enter(id, details)
      assertFailure(reply, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(reply.body.data.params), wrong)
    }
    const first = await enter(id, { method: 'sepa', iban: 'DE89 3704 0044 0532 0130 00', holder: 'Ada B' })
    assert.equal(first.status, 201, JSON.stringify(first.body))
    assert.equal(first.body.account, 'DE •••• 3000')
    const short = { method: 'nacha', routing_number: '021000021', account_number: '12345', holder: 'A B' }
    assert.equal((await enter((await people(['short']))[0]!, short)).body.account, '•••• ••45')
    const second = await enter(id, { method: 'sepa', iban: IBANS[2], holder: 'Ada B' })
    assert.ok(second.body.usable_from > second.body.date)
    const { body: history } = await service().get(`/payment-details?affiliate_id=${id}`)
    assert.deepEqual(
      history.map((one: any) => one.status),
      ['replaced', 'current'],
    )
    const [raced] = (await people(['raced'])) as [number]
    const wallets = Array.from({ length: 8 }, (_, number) => `wallet${number}@example.org`)
    const replies = await Promise.all(
      wallets.map(paypal_email => enter(raced, { method: 'paypal', paypal_email })),
    )
    for (const { status, body } of replies) {
      assert.equal(status, 201, JSON.stringify(body))
      // Until now PayPal would have paid to the address for payments.
      assert.ok(body.usable_from > body.date)
    }
    const same = { method: 'paypal', paypal_email: 'Same@example.com' }
    const { body: sameAsBefore } = await enter((await people(['same']))[0]!, same)
    assert.equal(sameAsBefore.usable_from, sameAsBefore.date)
    const { body: left } = await service().get(`/payment-details?affiliate_id=${raced}&status=current`)
    assert.equal(left.length, 1)
    const everything = JSON.stringify([
      await service().database.reader.selectFrom('payment_details').selectAll().execute(),
      await service().database.reader.selectFrom('events').selectAll().execute(),
    ])
    assert.doesNotMatch(everything, /37040044|0417164300/)
    if (service().database.engine.name === 'SQLite') {
      const bytes = await readFile(service().databaseUrl.slice('sqlite:'.length))
      assert.equal(bytes.includes('0417164300'), false)
    }
  })

  test('400 - an account or a bank outside of SEPA; whose details are from before is left out', async () => {
    const admin = await service().admin()
    await admin.patch('/settings', { currency: 'EUR', payer_name: 'Shop', payer_iban: IBANS[0] })
    const outside = ['AE070331234567890123456', 'TR330006100519786457841326', 'BR1800360305000010009795493C1']
    const [id, joined, former] = (await people(['elsewhere', 'joined', 'former'])) as [number, number, number]
    for (const iban of outside) {
      const reply = await enter(id, { method: 'sepa', iban, bic: 'CHASUS33XXX', holder: 'A B' })
      assertFailure(reply, 400, 'rest_invalid_param')
      const { params } = reply.body.data
      assert.match(params.iban, new RegExp(`account in SEPA: ${iban.slice(0, 2)} is no country of SEPA`))
      assert.match(params.bic, /bank in SEPA: US is no country of SEPA/)
      const payer = await admin.patch('/settings', { payer_iban: iban, payer_bic: 'CHASUS33XXX' })
      assertFailure(payer, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(payer.body.data.params), ['payer_iban', 'payer_bic'])
    }
    // Serbia has joined, and banks of a territory have BICs of their own.
    for (const [iban, bic] of [
      ['RS35260005601001611379', 'NBSRRSBG'],
      [IBANS[1]!, 'BNPAREXX'],
    ])
      assert.equal((await enter(joined, { method: 'sepa', iban, bic, holder: 'A B' })).status, 201)
    await owe(former, 10)
    await enter(former, { method: 'sepa', iban: IBANS[2], holder: 'Former' })
    await service().database.transaction(tx =>
      tx
        .updateTable('payment_details')
        .set({ account: 'AE •••• 3456' })
        .where('affiliate_id', '=', former)
        .execute(),
    )
    const { body: run } = await service().post('/payout-runs', { method: 'sepa' })
    const { reason, note } = (await items(run.id)).find((item: any) => item.affiliate_id === former)
    assert.deepEqual([reason, note], ['unfit_details', 'AE is no country of SEPA: a bank refuses the file.'])
    await cancelled(run.id)
    const { body: owed } = await service().get(`/referrals?affiliate_id=${former}`)
    await service().patch(`/referrals/${owed[0].id}`, { status: 'rejected' })
    await admin.patch('/settings', { payer_name: '', payer_iban: '' })
  })

  test('pain.001.001.09: sums, counts and characters; who does not fit is left out with the reason', async () => {
    const admin = await service().admin()
    await admin.patch('/settings', { currency: 'EUR' })
    assertFailure(await service().post('/payout-runs', { method: 'sepa' }), 409, 'rest_payout_run_conflict')
    for (const named of [{ payer_name: "Shop & Sons' (EU)", payer_iban: IBANS[0] }, { payer_bank: 'Bänk' }]) {
      const reply = await admin.patch('/settings', named)
      assertFailure(reply, 400, 'rest_invalid_param')
      assert.deepEqual(Object.keys(reply.body.data.params), [Object.keys(named)[0]])
    }
    // A name that no file is written by yet.
    assert.equal((await admin.patch('/settings', { payer_name: 'Shop & Sons' })).status, 200)
    const later = await admin.patch('/settings', { payer_iban: IBANS[0] })
    assert.match(
      later.body.data.params.payer_name,
      /characters that SEPA does not allow: &\. Banks spell it Shop \+ Sons\. If you make no such files/,
    )
    await admin.patch('/settings', {
      payer_name: "Shop Sons' (EU)",
      payer_iban: IBANS[0],
      payment_details_days: 0,
    })
    const noted = await service().post('/payout-runs', { method: 'sepa', note: 'Commission & more' })
    assertFailure(noted, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(noted.body.data.params), ['note'])
    const ids = await people(['anna', 'bea', 'cleo', 'dora'])
    for (const id of ids) await owe(id, 10.05)
    await enter(ids[0]!, { method: 'sepa', iban: IBANS[1], bic: 'BNPAFRPP', holder: "Anna O'Neil" })
    // Such holders are refused by now; they may have been entered before.
    for (const [id, holder] of [
      [ids[1]!, 'Łucja'],
      [ids[2]!, '=1+1'],
    ] as const) {
      await enter(id, { method: 'sepa', iban: IBANS[2], holder: 'Somebody' })
      await service().database.transaction(tx =>
        tx.updateTable('payment_details').set({ holder }).where('affiliate_id', '=', id).execute(),
      )
    }
    const run = await approved({ method: 'sepa', note: 'Commission 10/2026' })
    const said = Object.fromEntries(
      (await items(run.id)).map((item: any) => [item.affiliate_id, item.reason]),
    )
    assert.deepEqual(said, {
      [ids[0]!]: '',
      [ids[1]!]: 'unfit_details',
      [ids[2]!]: 'unfit_details',
      [ids[3]!]: 'no_payment_details',
    })
    const text = await file(run.id, 'sepa')
    assert.match(
      text,
      /^<\?xml version="1.0" encoding="UTF-8"\?>\n<Document xmlns="urn:iso:std:iso:20022:tech:xsd:pain\.001\.001\.09">/,
    )
    const of = (name: string) =>
      [...text.matchAll(new RegExp(`<${name}[^>]*>([^<]*)</${name}>`, 'g'))].map(found => found[1])
    assert.deepEqual(of('NbOfTxs'), ['1', '1'])
    assert.deepEqual(of('CtrlSum'), ['10.05', '10.05'])
    assert.deepEqual(of('InstdAmt'), ['10.05'])
    assert.deepEqual(of('IBAN'), [IBANS[0], IBANS[1]])
    assert.deepEqual(of('EndToEndId'), [`${run.reference}A${ids[0]}`])
    assert.deepEqual(of('Ustrd'), ['Commission 10/2026'])
    assert.match(text, /<Nm>Anna O&apos;Neil<\/Nm>/)
    // Every element that is opened is closed, in order.
    const open: string[] = []
    for (const [, close, name] of text.matchAll(/<(\/?)([A-Za-z]+)[^>?]*>/g)) {
      if (close) assert.equal(open.pop(), name)
      else open.push(name!)
    }
    assert.deepEqual(open, [])
    await cancelled(run.id)
  })

  test('PayPal: a line for each, by the address that was entered or else the one for payments', async () => {
    const ids = await people(['payone', 'paytwo'])
    for (const id of ids) await owe(id, 3)
    await enter(ids[1]!, { method: 'paypal', paypal_email: 'wallet@example.org' })
    const long = `${'long'.repeat(15)}@${'host'.repeat(15)}.example.com`
    assertFailure(await enter(ids[1]!, { method: 'paypal', paypal_email: long }), 400, 'rest_invalid_param')
    const { body: unfit } = await service().post('/affiliates', {
      create_user: true,
      payment_email: long,
      username: 'long',
      status: 'active',
    })
    await owe(unfit.id, 3)
    const exclude = (await service().get('/affiliates?number=-1')).body
      .map((one: any) => one.id)
      .filter((id: number) => ![...ids, unfit.id].includes(id))
    const run = await approved({ method: 'paypal', exclude })
    const { reason, note } = (await items(run.id)).find((item: any) => item.affiliate_id === unfit.id)
    assert.deepEqual(
      [reason, note],
      ['unfit_details', 'The address is longer than 127 characters, which PayPal allows.'],
    )
    assert.equal(
      await file(run.id, 'paypal'),
      [
        `payone@example.com,3.00,EUR,${run.reference}A${ids[0]},`,
        `wallet@example.org,3.00,EUR,${run.reference}A${ids[1]},`,
        '',
      ].join('\r\n'),
    )
    await cancelled(run.id)
  })
})

describeService('the execution date of a payout run', service => {
  giveSecretKey()
  const prepare = (args: object) => service().post('/payout-runs', args)
  const approve = ({ id, hash }: any) => service().post(`/payout-runs/${id}/approve`, { hash })
  const asked = async (id: number) => {
    const { body } = await service().get<string>(`/payout-runs/${id}/files/sepa`)
    return /<ReqdExctnDt><Dt>(.*?)<\/Dt>/.exec(body)?.[1]
  }

  test('400 - a day that is past or too far ahead, that is none, or that no file can say', async () => {
    const bounds = `must be from ${dayFromNow(0)}, which is today in UTC, to ${dayFromNow(366)}.`
    const noDate = (method: string) =>
      `is for sepa and nacha only: the ${method} file carries no date. Hand it over on that day.`
    for (const [method, execution_date, problem] of [
      ['sepa', dayFromNow(-1), bounds],
      ['nacha', dayFromNow(367), bounds],
      ['sepa', `${dayFromNow(5)} 10:00:00`, 'must be a date (YYYY-MM-DD).'],
      ['sepa', '2026-02-30', 'must be a date (YYYY-MM-DD).'],
      ['paypal', dayFromNow(5), noDate('paypal')],
      [undefined, dayFromNow(5), noDate('csv')],
    ] as const) {
      const refused = await prepare({ method, execution_date })
      assertFailure(refused, 400, 'rest_invalid_param')
      assert.equal(refused.body.data.params.execution_date, problem)
    }
  })

  test('201 - is what the file asks for, unless the run is approved later', async t => {
    await addSepaPayees(service(), ['one'])
    const { body: without } = await prepare({ method: 'sepa' })
    assert.equal(without.execution_date, '')
    const { body: run } = await prepare({ method: 'sepa', execution_date: dayFromNow(2) })
    assert.equal(run.execution_date, dayFromNow(2))
    assert.equal((await approve(run)).body.status, 'approved')
    assert.equal(await asked(run.id), dayFromNow(2))
    const confirmed = { not_handed_over: true }
    assert.equal((await service().post(`/payout-runs/${run.id}/cancel`, confirmed)).status, 200)

    const { body: late } = await prepare({ method: 'sepa', execution_date: dayFromNow(1) })
    t.mock.timers.enable({ apis: ['Date'], now: Date.now() + 3 * 86_400_000 })
    const { body: again } = await service().post(`/payout-runs/${late.id}`)
    assert.deepEqual([again.execution_date, again.hash], [dayFromNow(-2), late.hash])
    assert.equal((await approve(again)).body.status, 'approved')
    assert.equal(await asked(late.id), dayFromNow(0))
  })
})

describeService('the plain file of a payout run by another method', service => {
  test('409 - is there to read: it is not handed over, and a run of which nothing else was downloaded is cancelled', async () => {
    const { id } = await service().newAffiliate('reader', { status: 'active' })
    await service().post('/referrals', { affiliate_id: id, amount: 3, status: 'unpaid' })
    const { body: run } = await service().post('/payout-runs', { method: 'paypal' })
    const step = (path: string, body = {}) => service().post(`/payout-runs/${run.id}${path}`, body)
    const file = (format: string) => service().get(`/payout-runs/${run.id}/files/${format}`)
    await step('/approve', { hash: run.hash })
    assert.equal((await file('csv')).status, 200)
    const refused = await step('/files/csv')
    assertFailure(refused, 409, 'rest_payout_run_conflict')
    assert.match(refused.body.message, /is paid by its paypal file: its csv file is there to read/)
    assert.equal((await service().get(`/payout-runs/${run.id}`)).body.status, 'approved')
    const { body: files } = await service().get(`/payout-runs/${run.id}/files`)
    assert.deepEqual(
      files.map((one: any) => [one.format, one.handed_over]),
      [
        ['csv', ''],
        ['paypal', ''],
      ],
    )
    assert.equal((await step('/cancel')).body.status, 'cancelled')
    const { body: next } = await service().post('/payout-runs', { method: 'paypal' })
    const ofNext = `/payout-runs/${next.id}`
    await service().post(`${ofNext}/approve`, { hash: next.hash })
    await service().get(`${ofNext}/files/paypal`)
    const asked = await service().post(`${ofNext}/cancel`)
    assertFailure(asked, 409, 'rest_payout_run_conflict')
    assert.match(asked.body.message, /A file of this run was downloaded/)
    assert.equal((await service().post(`${ofNext}/files/paypal`)).body.status, 'sent')
  })
})

describeService('the ACH file of a payout run', service => {
  giveSecretKey()
  test('94 columns, blocks of ten, entry hash, totals; persons and companies apart', async () => {
    const admin = await service().admin()
    await admin.patch('/settings', {
      payer_name: 'SHOP INC',
      payer_bank: 'FIRST BANK',
      payer_routing: '021 000 021',
      payer_company_id: '1234567890',
    })
    const routings = ['011401533', '091000019', '121042882']
    const ids: number[] = []
    for (const [index, routing_number] of routings.entries()) {
      const { id } = await service().newAffiliate(`ach${index}`, { status: 'active' })
      await service().post('/referrals', { affiliate_id: id, amount: 100.01 + index, status: 'unpaid' })
      const details = {
        routing_number: routing_number.replace(/^(.{4})/, '$1 '),
        account_number: `00012345${index}`,
        holder: `Payee ${index}`,
      }
      const reply = await service().post('/payment-details', {
        affiliate_id: id,
        method: 'nacha',
        account_type: index === 0 ? 'savings' : 'checking',
        company: index === 1,
        ...details,
      })
      assert.equal(reply.status, 201, JSON.stringify(reply.body))
      ids.push(id)
    }
    const { body: run } = await service().post('/payout-runs', { method: 'nacha', note: 'OCTOBER' })
    const approval = await service().post(`/payout-runs/${run.id}/approve`, { hash: run.hash })
    assert.equal(approval.body.status, 'approved', JSON.stringify(approval.body))
    const { body: text } = await service().get(`/payout-runs/${run.id}/files/nacha`)
    const records: string[] = text.split('\r\n').slice(0, -1)
    assert.deepEqual([...new Set(records.map(record => record.length))], [94])
    assert.equal(records.length % 10, 0)
    const kinds = records.map(record => record[0]).join('')
    assert.equal(kinds, '1567678567899999999'.padEnd(20, '9'))
    assert.deepEqual(
      records.filter(record => record[0] === '5').map(record => record.slice(50, 53)),
      ['PPD', 'CCD'],
    )
    const entries = records.filter(record => record[0] === '6')
    const hash = entries.reduce((sum, record) => sum + BigInt(record.slice(3, 11)), 0n)
    const cents = entries.reduce((sum, record) => sum + BigInt(record.slice(29, 39)), 0n)
    assert.equal(cents, 10_001n + 10_101n + 10_201n)
    const control = records.find(record => record[0] === '9' && record.slice(1, 7) === '000002')!
    assert.equal(BigInt(control.slice(21, 31)), hash % 10_000_000_000n)
    assert.equal(BigInt(control.slice(43, 55)), cents)
    assert.equal(Number(control.slice(7, 13)), records.length / 10)
    assert.equal(Number(control.slice(13, 21)), 6)
    assert.deepEqual(
      entries.map(record => record.slice(1, 3)),
      ['32', '22', '22'],
    )
    const traces = entries.map(record => record.slice(79))
    assert.equal(new Set(traces).size, 3)
    for (const entry of entries) {
      const digits = [...entry.slice(3, 12)].map(Number)
      assert.equal(digits.reduce((sum, digit, index) => sum + digit * [3, 7, 1][index % 3]!, 0) % 10, 0)
    }
  })
})

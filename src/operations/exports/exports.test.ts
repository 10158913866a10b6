import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import { assertFailure, describeService, type Visitor } from '../../../test/harness.ts'
import { foldAccents } from '../../base/text.ts'
import { payouts } from '../../programme/payouts/store.ts'

/** Reads CSV by RFC 4180, on its own way: character by character. */
function parseCsv(text: string): string[][] {
  const rows: string[][] = [['']]
  let quoted = false
  for (let at = 0; at < text.length; at += 1) {
    const [row, character] = [rows.at(-1)!, text[at]!]
    if (quoted && character === '"' && text[at + 1] === '"') {
      row[row.length - 1] += '"'
      at += 1
    } else if (character === '"') quoted = !quoted
    else if (!quoted && character === ',') row.push('')
    else if (!quoted && character === '\r' && text[at + 1] === '\n') {
      rows.push([''])
      at += 1
    } else row[row.length - 1] += character
  }
  assert.deepEqual(rows.pop(), [''])
  return rows
}

/** The records of a CSV answer, by the names in its first row. */
function recordsOf(text: string): Record<string, string>[] {
  assert.equal(text.charCodeAt(0), 0xfeff)
  const [head, ...rows] = parseCsv(text.slice(1))
  for (const row of rows) assert.equal(row.length, head!.length)
  return rows.map(row => Object.fromEntries(row.map((cell, column) => [head![column]!, cell])))
}

describeService('exports', service => {
  let admin: Visitor
  let affiliate: number
  before(async () => {
    admin = await service().admin()
    const made = await service().newAffiliate('exported', { rate: 7.5, status: 'active' })
    affiliate = made.id
    await service().newAffiliate('other', { status: 'rejected' })
  })

  /** As bytes, because reading text drops the byte order mark. */
  const file = async (path: string) => {
    const response = await fetch(`${service().url}/admin/api/exports/${path}`, {
      headers: { cookie: admin.cookie! },
    })
    const text = new TextDecoder('utf-8', { ignoreBOM: true, fatal: true }).decode(
      await response.arrayBuffer(),
    )
    return { response, text }
  }

  test('affiliates as CSV - what is filtered, in its order, as a file', async () => {
    const { response, text } = await file('affiliates?status=active,rejected&orderby=status&order=desc')
    assert.equal(response.status, 200)
    assert.equal(response.headers.get('content-type'), 'text/csv; charset=utf-8')
    assert.match(
      response.headers.get('content-disposition')!,
      /^attachment; filename="affiliates-\d{4}-\d\d-\d\d\.csv"$/,
    )
    const [rejected, active] = recordsOf(text)
    assert.equal(rejected!.status, 'rejected')
    const { user_id, date_registered, ...rest } = active!
    assert.deepEqual(rest, {
      affiliate_id: String(affiliate),
      login: 'exported@example.com',
      account_email: 'exported@example.com',
      display_name: 'exported@example.com',
      status: 'active',
      rate: '7.5',
      rate_type: '',
      effective_rate: '7.5',
      effective_rate_type: 'percentage',
      payment_email: 'exported@example.com',
      earnings: '0.00',
      unpaid_earnings: '0.00',
      currency: 'USD',
      referrals: '0',
      visits: '0',
    })
    assert.equal(rejected!.effective_rate, '20')
  })

  test('payouts as CSV - amounts with every decimal', async () => {
    await service().newPayout(affiliate, { amount: 27.8, referrals: [3, 1, 2], payout_method: 'exact' })
    const [payout] = recordsOf((await file('payouts?payout_method=exact')).text)
    assert.equal(payout!.amount, '27.80')
    assert.equal(payout!.referrals, '3,1,2')
    assert.equal(payout!.owner, '1')
    assert.deepEqual(Object.keys(payout!), [
      'payout_id',
      'affiliate_id',
      'amount',
      'currency',
      'status',
      'payout_method',
      'referrals',
      'date',
      'owner',
      'affiliate_name',
      'payment_email',
      'reference',
      'note',
    ])
  })

  test('payouts as CSV - who each went to, and nobody once the affiliate was deleted', async () => {
    const [named, gone] = [
      await service().newAffiliate('payee', { username: 'payee' }),
      await service().newAffiliate('leaves'),
    ]
    for (const { id } of [named, gone]) await service().newPayout(id, { amount: 1, payout_method: 'named' })
    await service().delete(`/affiliates/${gone.id}`)
    const rows = recordsOf((await file('payouts?payout_method=named')).text)
    assert.deepEqual(
      rows.map(({ affiliate_name, payment_email }) => [affiliate_name, payment_email]),
      [
        ['payee', 'payee@example.com'],
        ['', ''],
      ],
    )
  })

  test('CSV - a cell that a spreadsheet would compute is text', async () => {
    const methods: [string, string][] = [
      ['=1+1', "'=1+1"],
      ['+SUM(A1)', "'+SUM(A1)"],
      ['-2+3', "'-2+3"],
      ['@cmd', "'@cmd"],
      ['=HYPERLINK("http://evil.example","a, b")', '\'=HYPERLINK("http://evil.example","a, b")'],
      ['＝1+1', "'＝1+1"],
      ['a;"=1+1;b', 'a;"\'=1+1;b'],
      ['a;""=1+1;b', 'a;""\'=1+1;b'],
      ['a|\u200b=1+1', "a|\u200b'=1+1"],
      ['\u200b=1+1', "'\u200b=1+1"],
      ['"=1+1"', '\'"=1+1"'],
      ['-12.50', '-12.50'],
      ['+49', '+49'],
      ['1=1', '1=1'],
      ['<script>alert("1")</script>', '<script>alert("1")</script>'],
      ['מזומן 🦊, "é"', 'מזומן 🦊, "é"'],
    ]
    const ids: number[] = []
    for (const [payout_method] of methods) {
      ids.push((await service().newPayout(affiliate, { payout_method })).id)
    }
    // A tab and a line break cannot come in by HTTP.
    for (const method of ['\t=1', '\r=1', '\n=1']) {
      const row = await service().database.transaction(tx =>
        payouts.insert(
          tx,
          {
            affiliate_id: affiliate,
            referrals: '',
            amount: 0,
            payout_method: method,
            run_item_id: 0,
            payout_method_key: foldAccents(method),
            reference: '',
            note: '',
            status: 'paid',
            owner: 1,
            created_at: 0,
            updated_at: 0,
          },
          new Map(),
        ),
      )
      ids.push(row.id)
      methods.push([method, `'${method}`])
    }
    const records = recordsOf((await file(`payouts?payout_id=${ids.join(',')}`)).text)
    assert.deepEqual(
      records.map(record => record.payout_method),
      methods.map(([, cell]) => cell),
    )
  })

  test('as NDJSON - the records, one on each line, without a byte order mark', async () => {
    const { response, text } = await file(`affiliates?format=ndjson&affiliate_id=${affiliate}`)
    assert.equal(response.headers.get('content-type'), 'application/x-ndjson')
    assert.match(response.headers.get('content-disposition')!, /\.ndjson"$/)
    const lines = text.trimEnd().split('\n')
    assert.equal(lines.length, 1)
    const { body } = await admin.get(`/affiliates/${affiliate}?user=1&effective=1`)
    assert.deepEqual(JSON.parse(lines[0]!), body)
  })

  test('an export of nothing is a head without rows, or nothing', async () => {
    assert.deepEqual(recordsOf((await file('payouts?payout_id=987654')).text), [])
    assert.equal((await file('payouts?payout_id=987654&format=ndjson')).text, '')
  })

  test('every row of a long list is there once, in order', async () => {
    const row = {
      affiliate_id: affiliate,
      referrals: '',
      amount: 100,
      payout_method: 'many',
      run_item_id: 0,
      payout_method_key: 'many',
      reference: '',
      note: '',
      status: 'paid' as const,
      owner: 1,
      created_at: 1,
      updated_at: 1,
    }
    await service().database.transaction(async tx => {
      for (let number = 0; number < 1700; number += 1) await payouts.insert(tx, row, new Map())
    })
    const records = recordsOf((await file('payouts?payout_method=many&orderby=date&order=desc')).text)
    const ids = records.map(record => Number(record.payout_id))
    assert.equal(new Set(ids).size, 1700)
    assert.deepEqual(
      ids,
      [...ids].sort((a, b) => b - a),
    )
  })

  test('400, 401 - a wrong filter, and nobody logged in', async () => {
    const wrong = await admin.get('/exports/payouts?format=xlsx&status=lost&orderby=note')
    assertFailure(wrong, 400, 'rest_invalid_param')
    assert.deepEqual(Object.keys(wrong.body.data.params).sort(), ['format', 'orderby', 'status'])
    assertFailure(await admin.get('/exports/payouts?amount[min]=0.001'), 400, 'rest_invalid_param')
    assertFailure(await service().visitor().get('/exports/payouts'), 401, 'rest_session_required')
  })
})

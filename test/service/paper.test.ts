/** Referrals out of a file, the ledger as a journal, and statements: what the command line does for accountants. */
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { lstat, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises'
import { hostname } from 'node:os'
import { basename, join } from 'node:path'
import { after, before, test } from 'node:test'
import { describeService, runCommand, temporaryFolder } from '../harness.ts'

describeService('referrals and the ledger on the command line', service => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let affiliate = 0
  before(async () => {
    folder = await temporaryFolder()
    affiliate = (await service().newAffiliate('paper')).id
  })
  after(() => folder.remove())

  const run = (...args: string[]) => runCommand([...args, '--database', service().databaseUrl])
  const file = async (name: string, ...lines: string[]) => {
    const path = join(folder.path, name)
    await writeFile(path, lines.join('\r\n'))
    return path
  }
  const count = async () => (await service().get('/referrals?number=0')).body.length

  test('referrals import - judges all lines, and imports none where one is wrong', async () => {
    const path = await file(
      'wrong.csv',
      'affiliate_id,amount,reference,status,description',
      `${affiliate},10.00,A-1,unpaid,"two`,
      'lines, ""quoted"""',
      `${affiliate},1.234,A-2,unpaid,`,
      `999999,5,A-3,unpaid,`,
      `${affiliate},5,,unpaid,`,
      `${affiliate},5,A-1,unpaid,`,
      `${affiliate},5,A-6,unpaid`,
    )
    const { code, stderr } = await run('referrals', 'import', path)
    assert.equal(code, 1)
    assert.match(stderr, /^error: 5 of 6 lines are wrong; nothing was imported\.$/m)
    assert.match(stderr, /line 4: .*decimals/)
    assert.match(stderr, /line 5: .*affiliate_id: must be the identifier of an existing affiliate/)
    assert.match(stderr, /line 6: .*reference/)
    assert.match(stderr, /line 7: .*of line 2/)
    assert.match(stderr, /line 8: has 4 cells/)
    assert.equal(await count(), 0)
    const json = await run('referrals', 'import', path, '--json')
    assert.equal(json.code, 1)
    const { errors, dry_run } = JSON.parse(json.stdout)
    assert.equal(dry_run, false)
    assert.deepEqual(errors.map((error: { line: number }) => error.line).toSorted(), [4, 5, 6, 7, 8])
  })

  test('referrals import - a dry run imports nothing, and a file can be imported again', async () => {
    const lines = Array.from(
      { length: 250 },
      (_, index) => `${affiliate},${index}.5,R-${index},unpaid,sale,2024-01-02`,
    )
    const path = await file(
      'right.csv',
      '\uFEFFaffiliate_id,amount,reference,status,type,date',
      ...lines,
      `${affiliate},-2,R-1,unpaid,refund,2024-01-03`,
      '',
    )
    const dry = await run('referrals', 'import', path, '--dry-run')
    assert.equal(
      dry.stdout,
      'All 251 lines are right: 251 would be imported, 0 are there already.\n',
      dry.stderr,
    )
    assert.equal(await count(), 0)
    const done = await run('referrals', 'import', path, '--json')
    assert.deepEqual(JSON.parse(done.stdout), {
      lines: 251,
      imported: 251,
      existing: 0,
      wrong: 0,
      errors: [],
      dry_run: false,
    })
    assert.equal(await count(), 251)
    const again = await run('referrals', 'import', path)
    assert.equal(again.stdout, 'Imported 0 of 251 lines; 251 were there already.\n', again.stderr)
    assert.equal(await count(), 251)
    const [first] = (await service().get('/referrals?reference=R-7')).body
    assert.deepEqual([first.amount, first.context, first.date], ['7.50', 'import', '2024-01-02 00:00:00'])
    const other = await file('other.csv', 'affiliate_id,amount,reference', `${affiliate},1,R-7`)
    assert.match((await run('referrals', 'import', other)).stderr, /line 2: Referral \d+ of this affiliate/)
  })

  test('referrals import - line breaks of any system, and no file of nothing', async () => {
    const lines = ['affiliate_id,amount,reference', `${affiliate},1,L-1`, `${affiliate},1.234,L-2`, '']
    for (const end of ['\r', '\n', '\r\n']) {
      const { stderr } = await run('referrals', 'import', await file('ends.csv', lines.join(end)))
      assert.match(stderr, /^error: 1 of 2 lines are wrong; nothing was imported\.\s+line 3: .*decimals/)
    }
    const { code, stderr } = await run('referrals', 'import', await file('nothing.csv', ''))
    assert.deepEqual([code, stderr], [1, 'error: line 1 must name the columns: the file is empty.\n'])
  })

  test('referrals import - a line that repeats an earlier one is found however both name the affiliate', async () => {
    const before = await count()
    const { user } = (await service().get(`/affiliates/${affiliate}?user=1`)).body
    const others = Array.from({ length: 400 }, (_, index) => `${affiliate},,O-${index},1`)
    const path = await file(
      'twice.csv',
      'affiliate_id,user_name,reference,amount',
      `${affiliate},,T-1,5`,
      ...others,
      `,${user.user_login.toUpperCase()},T-1,7`,
      `0${affiliate},,T-1,5`,
    )
    for (const options of [['--dry-run'], []]) {
      const { stderr } = await run('referrals', 'import', path, ...options)
      assert.match(stderr, /^error: 2 of 403 lines are wrong; nothing was imported\.$/m)
      for (const line of [403, 404]) assert.match(stderr, new RegExp(`line ${line}: .*of line 2`))
      assert.equal(await count(), before)
    }
  })

  test('referrals import - columns that are not known are refused, or passed over by name', async () => {
    const path = await file('columns.csv', 'affiliate_id,amuont,reference', `${affiliate},1,C-1`)
    assert.match((await run('referrals', 'import', path)).stderr, /line 1 .*not known: amuont\./)
    assert.equal((await run('referrals', 'import', path, '--ignore', 'amuont', '--dry-run')).code, 0)
    const old = await file('old.csv', 'referral_id,affiliate_id,reference', `7,${affiliate},C-1`)
    const refused = (await run('referrals', 'import', old)).stderr
    assert.match(refused, /not known: referral_id\. Those that referrals have are (?!.*\breferral_id\b)/)
    assert.equal((await run('referrals', 'import', old, '--ignore', 'referral_id', '--dry-run')).code, 0)
    const nameless = await file('nameless.csv', 'affiliate_id,reference,', `${affiliate},C-1,`)
    assert.match((await run('referrals', 'import', nameless)).stderr, /not known: '' \(without a name\)\./)
    assert.equal((await run('referrals', 'import', nameless, '--ignore', '', '--dry-run')).code, 0)
    const broken = await file('broken.csv', 'affiliate_id,reference', `${affiliate},a"b`)
    assert.match((await run('referrals', 'import', broken)).stderr, /^error: line 2 has a quote/)
    assert.match(
      (await run('referrals', 'import', join(folder.path, 'none.csv'))).stderr,
      /^error: .*none\.csv is not there\.$/m,
    )
    for (const what of ['referrals', 'exchange-rates']) {
      const { stderr } = await run(what, 'import', folder.path)
      assert.equal(stderr, `error: ${folder.path} is a folder, and a file is needed.\n`)
    }
    const stream = await run('referrals', 'import', '/dev/null')
    assert.match(stream.stderr, /^error: \/dev\/null is no regular file: save/)
    assert.equal(stream.code, 1)
  })

  test('referrals import - a line that is not UTF-8 is refused, and letters of several bytes are kept', async () => {
    const before = await count()
    const texts = ['Zoë', '日本', '\u{1f600}', `${'é'.repeat(40_000)}x`]
    const lines = texts.map((text, index) => `${affiliate},U-${index},${text}`)
    const content = ['\uFEFFaffiliate_id,reference,description', ...lines, ''].join('\n')
    const path = join(folder.path, 'letters.csv')
    await writeFile(
      path,
      Buffer.concat([Buffer.from(content), Buffer.from(`${affiliate},U-9,Zoë`, 'latin1')]),
    )
    for (const options of [['--dry-run'], []]) {
      const { code, stderr } = await run('referrals', 'import', path, ...options)
      assert.deepEqual([code, await count()], [1, before])
      assert.match(stderr, /^error: line 6 is not encoded as UTF-8: save/)
    }
    await writeFile(path, content)
    assert.equal((await run('referrals', 'import', path)).code, 0)
    const { body } = await service().get('/referrals?reference=U-0,U-1,U-2,U-3&orderby=referral_id')
    assert.deepEqual(
      body.map(({ description }: { description: string }) => description),
      texts,
    )
  })

  test('ledger - a journal whose lines come to zero; statement - from balance to balance', async () => {
    const [{ referral_id }] = (await service().get('/referrals?reference=R-9')).body
    const { payout_id } = await service().newPayout(affiliate, { referrals: [referral_id] })
    const path = join(folder.path, 'journal.csv')
    const { stdout, stderr } = await run('ledger', path)
    assert.match(stdout, /^Wrote \d+ lines into .*; together they come to 0\.00 USD\.$/m, stderr)
    const [head, ...lines] = (await readFile(path, 'utf8')).trimEnd().split('\r\n')
    assert.equal(
      head,
      '\uFEFFtransfer_id,date,affiliate_id,account,amount,currency,reason,referral_id,payout_id,run_item_id,event_id,record_date,reference,because',
    )
    const sums = new Map<string, bigint>()
    for (const line of lines) {
      const cells = line.split(',')
      const units = BigInt(cells[4]!.replace('.', ''))
      sums.set(cells[3]!, (sums.get(cells[3]!) ?? 0n) + units)
    }
    const balances = (await service().get(`/affiliates/${affiliate}/balances`)).body
    for (const [account, units] of sums) assert.equal(Number(units) / 100, balances[account], account)
    assert.equal(
      [...sums.values()].reduce((sum, units) => sum + units, 0n),
      0n,
    )
    // Whole or as it was: the file before stays when one ends early.
    assert.equal((await run('ledger', path, '--to', '2020-01-01')).code, 0)
    const before = await readFile(path, 'utf8')
    assert.equal((await run('ledger', path, '--from', 'never')).code, 1)
    assert.equal(await readFile(path, 'utf8'), before)
    const link = join(folder.path, 'link.csv')
    await symlink(path, link)
    assert.equal((await run('ledger', link, '--from', 'never')).code, 1)
    assert.equal(await readFile(path, 'utf8'), before)
    assert.equal((await run('ledger', link)).code, 0)
    assert.notEqual(await readFile(path, 'utf8'), before)
    assert.ok((await lstat(link)).isSymbolicLink())
    assert.ok(!(await readdir(folder.path)).some(name => name.endsWith('.partial')))
    // What a killed process has left is removed, and nothing that one writes that is alive.
    const gone = spawnSync(process.execPath, ['--version']).pid
    const partials = [gone, process.ppid].map(pid => `${path}.${hostname()}.${pid}.partial`)
    for (const partial of partials) await writeFile(partial, 'half')
    assert.equal((await run('ledger', path)).code, 0)
    const left = (await readdir(folder.path)).filter(name => name.endsWith('.partial'))
    assert.deepEqual(left, [basename(partials[1]!)])
    await rm(partials[1]!)
    assert.equal((await run('ledger', '/dev/null')).code, 0)
    assert.ok((await lstat('/dev/null')).isCharacterDevice())
    assert.match((await run('ledger', join(path, 'journal.csv'))).stderr, /^error: There is no folder /m)
    const nowhere = await run('ledger', join(folder.path, 'none', 'journal.csv'))
    assert.match(nowhere.stderr, /^error: There is no folder .*none\.$/m)
    assert.equal((await run('ledger', '-', '--to', '2020-01-01')).stdout.split('\r\n').length, 2)
    for (const [code, ...args] of [
      [2, '--json'],
      [1, '--from', 'never'],
      [1, '--from', '2020-01-02', '--to', '2020-01-01'],
      [1, '--from', '2100-01-01'],
    ] as const) {
      const { code: ended, stdout } = await run('ledger', '-', ...args)
      assert.deepEqual([ended, stdout], [code, ''], args.join(' '))
    }

    const statement = JSON.parse((await run('statement', String(affiliate), '--json')).stdout)
    assert.equal(statement.opening, '0.00')
    assert.equal(Number(statement.closing), balances.unpaid)
    assert.equal(statement.lines.length, 252)
    assert.deepEqual(
      { ...statement.lines.at(-1), date: '', record_date: '' },
      {
        date: '',
        record_date: '',
        reference: '',
        reason: 'payout.create',
        referral_id: 0,
        payout_id,
        amount: '-9.50',
        paid: '9.50',
        because: `payout ${payout_id} recorded`,
        balance: statement.closing,
      },
    )
    // Posted today, and earned when the file says.
    const [first] = statement.lines
    assert.match(first.record_date, /^\d{4}-\d\d-\d\d /)
    assert.match(first.reference, /^R-/)
    const later = JSON.parse(
      (await run('statement', String(affiliate), '--from', '2100-01-01', '--to', '2100-01-02', '--json'))
        .stdout,
    )
    assert.deepEqual([later.opening, later.closing, later.lines], [statement.closing, statement.closing, []])
    // It would end before it begins.
    assert.match(
      (await run('statement', String(affiliate), '--from', '2100-01-01')).stderr,
      /^error: Invalid argument\. from: must not be in the future, unless to is sent\.$/m,
    )
    const csv = (await run('statement', String(affiliate), '--csv')).stdout.trimEnd().split('\r\n')
    assert.equal(csv.length, 255)
    assert.match(csv.at(-1)!, new RegExp(`,closing balance,,,,${statement.closing},,,,closing balance$`))
    // A payout that names no referral lowers nothing that is owed, and was paid all the same.
    await service().newPayout(affiliate, { amount: 10 })
    const admin = await service().admin()
    const file = (await admin.get(`/affiliates/${affiliate}/statement`)).body.trimEnd().split('\r\n')
    assert.match(file.at(-2), new RegExp(`,0\\.00,${statement.closing},.*,10\\.00,payout \\d+ recorded$`))
    assert.match((await run('statement', '987654')).stderr, /^error: There is no affiliate/)
    const wrong = await run('statement', String(affiliate), '--from', '2024-02-30')
    assert.match(wrong.stderr, /^error: .*from: must be a date/)
  })

  test('referrals import - lines in another currency are found again, before there is a rate and afterwards', async () => {
    const { id: foreign } = await service().newAffiliate('foreign')
    const statuses = ['pending', 'unpaid', 'paid', 'rejected']
    const lines = statuses.flatMap(status => [
      `${foreign},5,,VUV,V-amount-${status},${status},sale`,
      `${foreign},,900,VUV,V-total-${status},${status},sale`,
      `${foreign},-5,,VUV,V-amount-${status},${status},refund`,
    ])
    const path = await file(
      'foreign.csv',
      'affiliate_id,amount,order_total,currency,reference,status,type',
      ...lines,
    )
    const first = await run('referrals', 'import', path)
    assert.equal(first.stdout, 'Imported 12 of 12 lines; 0 were there already.\n', first.stderr)
    const found = async () => {
      const again = await run('referrals', 'import', path)
      assert.equal(again.stdout, 'Imported 0 of 12 lines; 12 were there already.\n', again.stderr)
    }
    await found()
    await service().post('/exchange-rates', { from_currency: 'VUV', rate: 0.01, date: '2020-01-01' })
    const { body: rejected } = await service().get('/referrals?status=rejected&search=V-')
    assert.equal(rejected.length, 3)
    await found()
    const later = await file(
      'later.csv',
      'affiliate_id,amount,currency,reference,status',
      `${foreign},5,VUV,W-1,rejected`,
    )
    await run('referrals', 'import', later)
    const again = await run('referrals', 'import', later)
    assert.equal(again.stdout, 'Imported 0 of 1 lines; 1 was there already.\n', again.stderr)
  })
})

/** A payout run from outside, by the command line beside a service; and two persons, by every way in. */
import assert from 'node:assert/strict'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Writable } from 'node:stream'
import { after, before, describe, test } from 'node:test'
import { sql } from 'kysely'
import type { Terminal } from '../src/cli/command.ts'
import { run as runProgram } from '../src/process/program.ts'
import { prepare } from '../src/programme/runs/rules.ts'
import { payoutRun } from '../src/programme/runs/run.ts'
import {
  assertFailure,
  dayFromNow,
  operatorOf,
  runCommand,
  type Service,
  startService,
  temporaryFolder,
} from './harness.ts'

describe('affiliated runs', () => {
  let service: Service
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  before(async () => {
    service = await startService()
    folder = await temporaryFolder()
    for (const [name, amount] of [
      ['paid', 12.5],
      ['failed', 7],
    ] as const) {
      const { id } = await service.newAffiliate(name, { status: 'active' })
      await service.post('/referrals', { affiliate_id: id, amount, status: 'unpaid' })
    }
  })
  after(async () => {
    await service.close()
    await folder.remove()
  })
  const run = (...args: string[]) => runCommand(['runs', ...args, '--database', service.databaseUrl])
  const done = async (...args: string[]) => {
    const { code, stdout, stderr } = await run(...args, '--json')
    assert.equal(code, 0, stderr)
    return JSON.parse(stdout)
  }

  test('prepare, approve, file, result, close and reconcile; each wrong step is an error that changes nothing', async () => {
    const formula = await run('prepare', '--method', 'paypal', '--note', '=1+1')
    assert.match(formula.stderr, /note: must not be written so/)
    const undated = await run('prepare', '--execution-date', '2099-01-31')
    assert.match(undated.stderr, /execution_date: is for sepa and nacha only: the csv file carries no date/)
    const draft = await done('prepare', '--note', 'October')
    const id = String(draft.payout_run_id)
    assert.deepEqual([draft.status, draft.payees, draft.amount], ['draft', 2, 19.5])
    const wrong = await run('approve', id, '--hash', 'x')
    assert.deepEqual([wrong.code, wrong.stdout], [1, ''])
    assert.match(wrong.stderr, /not what hash stands for/)
    assert.equal((await run('approve', id)).code, 2)
    for (const wrong of [
      ['show', 'x'],
      ['prepare', '--method', 'gold'],
      ['result', id, 'x.csv', '--format', 'x'],
    ])
      assert.equal((await run(...wrong)).code, 2, wrong.join(' '))
    const { body: late } = await service.post('/referrals', { affiliate_id: 1, amount: 1, status: 'unpaid' })
    const changed = await run('approve', id, '--hash', draft.hash)
    assert.equal(changed.code, 1)
    assert.match(changed.stderr, /Affiliate 1 is owed another amount/)
    const again = await done('prepare-again', id)
    assert.deepEqual([again.payout_run_id, again.payees, again.amount], [draft.payout_run_id, 2, 20.5])
    assert.equal((await service.delete(`/referrals/${late.referral_id}`)).status, 200)
    assert.equal((await done('prepare-again', id)).hash, draft.hash)
    assert.equal((await done('approve', id, '--hash', draft.hash)).status, 'approved')

    const path = join(folder.path, 'run.csv')
    const none = await run('file', id, 'sepa', '--output', path)
    assert.match(none.stderr, /has no sepa file/)
    assert.equal((await done('file', id, 'csv', '--output', path)).path, path)
    const taken = await run('file', id, 'csv', '--output', path)
    assert.deepEqual([taken.code, taken.stderr], [1, `error: ${path} is there already: name another file.\n`])
    const references = (await readFile(path, 'utf8')).match(/R\d+[B-Z]{4}A\d+/g)!
    assert.equal(references.length, 2)
    assert.equal((await done('file', id, 'csv', '--handed-over')).status, 'sent')
    const open = await run('close', id)
    assert.equal(open.code, 1)
    assert.match(open.stderr, /2 payments/)

    const results = join(folder.path, 'results.csv')
    const text = `reference,status\n${references[0]},paid\n${references[1]},failed\n`
    await writeFile(results, Buffer.from(`\uFEFF${text}`, 'utf16le'))
    const encoded = await run('result', id, results)
    assert.equal(encoded.code, 1)
    assert.match(encoded.stderr, /must be encoded as UTF-8/)
    const endless = await run('result', id, '/dev/zero')
    assert.equal(endless.code, 1)
    assert.equal(endless.stderr, 'error: /dev/zero is larger than 32 MiB: split it.\n')
    const aFolder = await run('result', id, folder.path)
    assert.equal(aFolder.code, 1)
    assert.equal(aFolder.stderr, `error: ${folder.path} is a folder, and a file is needed.\n`)
    await writeFile(results, text)
    const other = join(folder.path, 'other.csv')
    await writeFile(other, `reference,status,amount\n${references[0]},paid,99.00\n`)
    for (const more of [[], ['--dry-run'], ['--json']]) {
      const conflict = await run('result', id, other, ...more)
      assert.deepEqual([conflict.code, conflict.stderr], [1, ''])
      if (more[0] !== '--json') assert.match(conflict.stdout, /0 paid.*\nconflict: R\w+ is of 99.00 USD/)
      else assert.equal(JSON.parse(conflict.stdout).conflicts.length, 1)
    }
    const { recorded } = await done('result', id, results)
    assert.deepEqual(recorded, { paid: 1, failed: 1, returned: 0, unknown: 0 })
    assert.equal((await done('show', id)).last_results, 'results.csv (csv): 1 paid, 1 failed')
    assert.equal((await done('close', id)).status, 'closed')
    const shown = await done('show', id)
    assert.equal(shown.status, 'closed')
    assert.deepEqual(shown.reconciliation, await done('reconcile', id))
    assert.equal(shown.reconciliation.balanced, true)
    const { stdout: csv } = await run('reconcile', id)
    assert.deepEqual(csv.split('\r\n')[2], `${id},paid,,1,12.50,USD`)
    const unknown = await run('show', '99')
    assert.deepEqual([unknown.code, unknown.stdout], [1, ''])
    const { payout_run_id: next } = await done('prepare')
    const cancelled = await run('cancel', String(next))
    assert.match(cancelled.stdout, /^Run \d+ is cancelled: 1 payee, \$?7\.00/)

    await (await service.admin()).patch('/settings', {
      payer_name: 'SHOP INC',
      payer_bank: 'FIRST BANK',
      payer_routing: '021000021',
      payer_company_id: '1234567890',
    })
    const { stdout: dated } = await run('prepare', '--method', 'nacha', '--execution-date', dayFromNow(1))
    assert.match(dated, new RegExp(`^Run \\d+ is draft: .*\nexecution date  ${dayFromNow(1)}\nhash  `))
  })

  test('what is long is written no faster than it is read, and every run is listed', async () => {
    const { payout_run_id: id, hash } = await done('prepare')
    await done('approve', String(id), '--hash', hash)
    for (const args of [
      ['runs', 'file', String(id), 'csv'],
      ['statement', '1', '--csv'],
    ]) {
      let pieces = 0
      const stdout = new Writable({
        highWaterMark: 1,
        decodeStrings: false,
        write(piece: string, _encoding, done) {
          pieces += 1
          setTimeout(
            () => done(stdout.writableLength > piece.length ? new Error('more was written') : null),
            100,
          )
        },
      })
      const terminal: Terminal = { stdin: process.stdin, stdout, stderr: new PassThrough(), exitCode: 0 }
      await runProgram([...args, '--database', service.databaseUrl], terminal)
      assert.deepEqual([terminal.exitCode, stdout.errored, stdout.writableLength], [0, null, 0])
      assert.ok(pieces > 1, args.join(' '))
    }
    const columns = sql.join(
      Object.keys(payoutRun.table.columns)
        .filter(name => name !== 'id')
        .map(name => sql.ref(name)),
    )
    await done('cancel', String(id), '--not-handed-over')
    await service.database.transaction(tx =>
      sql`
        WITH RECURSIVE numbers (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM numbers WHERE n < 1001)
        INSERT INTO payout_runs (${columns}) SELECT ${columns} FROM payout_runs, numbers WHERE id = ${id}`.execute(
        tx,
      ),
    )
    const { runs } = await done('list')
    assert.deepEqual([runs.length > 1001, runs.at(-1).payout_run_id], [true, 1])
  })

  test('with two persons, neither who prepared nor the command line approves; somebody else does', async () => {
    const admin = await service.admin()
    await admin.patch('/settings', { approval: 'two' })
    const person = { email: 'second@example.com', role: 'bookkeeper', password: 'a password of somebody' }
    await admin.post('/users', { login: 'second', ...person })
    const second = service.visitor()
    assert.equal((await second.logIn('second', person.password)).status, 201)

    const { body: own } = await admin.post('/payout-runs')
    const approve = `/payout-runs/${own.id}/approve`
    assertFailure(await admin.post(approve, { hash: own.hash }), 403, 'rest_second_person')
    assertFailure(await service.post(approve, { hash: own.hash }), 403, 'rest_second_person')
    const refused = await run('approve', String(own.id), '--hash', own.hash)
    assert.deepEqual([refused.code, refused.stdout], [1, ''])
    assert.match(refused.stderr, /the command line is nobody/)
    assert.equal((await service.get(approve.replace('/approve', ''))).body.status, 'draft')
    const made = await prepare(operatorOf(service.database), {})
    assertFailure(
      await second.post(`/payout-runs/${made.id}/approve`, { hash: made.hash }),
      403,
      'rest_second_person',
    )
    const reply = await second.post(approve, { hash: own.hash })
    assert.equal(reply.status, 200, JSON.stringify(reply.body))
  })
})

/** Seals leave the machine, and show there what was cut off here. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { existsSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { appendFile } from 'node:fs/promises'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { describe, type TestContext, test } from 'node:test'
import { sql } from 'kysely'
import type { Database } from '../src/storage/database.ts'
import { affiliated, engines, openDatabase, runCommand, serveProcess, temporaryFolder } from './harness.ts'
import { until } from './load.ts'

async function post(url: string, token: string, payment_email: string): Promise<void> {
  const body = JSON.stringify({ create_user: true, payment_email })
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const reply = await fetch(`${url}/affiliates`, { method: 'POST', headers, body })
  assert.equal(reply.status, 201, await reply.text())
}

/** Does what somebody could who has the database and no scruples. */
async function change(database: Database, statements: readonly string[]): Promise<void> {
  const on = (table: string) => (database.engine.name === 'SQLite' ? '' : ` ON ${table}`)
  await database.transaction(async tx => {
    for (const table of ['events', 'audit_seals'])
      await sql.raw(`DROP TRIGGER IF EXISTS ${table}_delete${on(table)}`).execute(tx)
    for (const statement of statements) await sql.raw(statement).execute(tx)
  })
}

const linesIn = (path: string) =>
  existsSync(path) ? readFileSync(path, 'utf8').split('\n').filter(Boolean) : []

for (const engine of Object.keys(engines)) {
  describe(`audit anchor (${engine})`, () => {
    async function prepare(t: TestContext) {
      const fresh = await engines[engine]!()
      const folder = await temporaryFolder()
      t.after(async () => {
        await fresh.remove()
        await folder.remove()
      })
      const start = async (...args: string[]) => {
        const service = await serveProcess(['--database', fresh.url, ...args])
        t.after(() => service.stop())
        return service
      }
      const read = async <T>(work: (database: Database) => Promise<T>) => {
        const database = await openDatabase(fresh.url)
        try {
          return await work(database)
        } finally {
          await database.close()
        }
      }
      const seals = () =>
        read(({ reader }) => reader.selectFrom('audit_seals').selectAll().orderBy('number').execute())
      const heads = async () =>
        (await seals()).map(({ number, hash, sealed_at }) =>
          JSON.stringify({ number, hash, sealed_at: new Date(sealed_at).toISOString() }),
        )
      const verify = (...args: string[]) => runCommand(['audit', 'verify', '--database', fresh.url, ...args])
      const tamper = (...statements: string[]) => read(database => change(database, statements))
      return { folder: folder.path, start, seals, heads, verify, tamper }
    }

    test('a file gets each seal once, over restarts and with workers, and shows what was cut off', async t => {
      const { folder, start, seals, heads, verify, tamper } = await prepare(t)
      const path = join(folder, 'anchor.ndjson')
      const first = await start('--audit-anchor', path)
      const { token, url } = first.announced
      await post(`${url}/v1`, token, 'one@example.com')
      assert.equal(await first.stop(), 0)
      assert.deepEqual(linesIn(path), await heads())
      assert.equal(statSync(path).mode & 0o777, 0o600)

      // Sealed while nobody delivers; and the line that a crash has broken off.
      const unanchored = await start()
      await post(`${unanchored.announced.url}/v1`, token, 'two@example.com')
      await unanchored.stop()
      const next = (await heads())[linesIn(path).length]!
      const fragment = next.slice(0, 40)
      await appendFile(path, fragment)
      const second = await start('--audit-anchor', path, '--workers', '2')
      await post(`${second.announced.url}/v1`, token, 'three@example.com')
      const whole = () => linesIn(path).filter(line => line !== fragment)
      await until(async () => whole().length === (await heads()).length)
      await post(`${second.announced.url}/v1`, token, 'four@example.com')
      assert.equal(await second.stop(), 0)
      assert.deepEqual(whole(), await heads())
      assert.equal(linesIn(path).length, whole().length + 1)

      const count = whole().length
      const lastLine = whole().at(-1)
      for (const [wrong, problem] of [
        [folder, 'is a folder, and a file is needed'],
        [`${path}.none`, 'is not there'],
      ] as const) {
        const { code, stderr } = await verify('--anchor', wrong)
        assert.deepEqual([code, stderr], [1, `error: ${wrong} ${problem}.\n`])
      }
      const found = await verify('--anchor', path)
      assert.equal(found.code, 0, found.stderr)
      assert.match(found.stdout, new RegExp(`All ${count} heads of .* are in the log`))

      const last = (await seals()).at(-1)!
      await tamper(
        `DELETE FROM events WHERE id >= ${Number.parseInt(last.entries, 10)}`,
        `DELETE FROM audit_seals WHERE number = ${last.number}`,
        `UPDATE audit_chain SET number = ${last.number - 1}, hash = '${last.previous_hash}', missing = '[]',
          last_entry = (SELECT max(id) FROM events)`,
      )
      assert.equal((await verify()).code, 0, 'an end that is cut off does not show by itself')
      const cut = await verify('--anchor', path)
      assert.equal(cut.code, 1)
      const missing = (line: number, number: number) =>
        new RegExp(`^error: The audit log was tampered with. Line ${line} of .*: seal ${number} is missing`)
      assert.match(cut.stderr, missing(last.number + 1, last.number))

      await tamper(
        'DELETE FROM events',
        'DELETE FROM audit_seals',
        "UPDATE audit_chain SET number = 0, hash = '', missing = '[]', last_entry = 0",
      )
      const emptied = await verify('--anchor', path)
      assert.equal(emptied.code, 1)
      assert.match(emptied.stderr, missing(1, 1))
      const third = await start('--audit-anchor', path)
      await until(() => third.stderr().includes('in the log it is another or missing'))
      assert.equal(await third.stop(), 0)
      assert.deepEqual(linesIn(path).slice(-1), [lastLine])
      const anew = await verify('--anchor', path)
      assert.match(anew.stderr, /Line 1 of .*: seal 1 /)
    })

    test('a URL gets each seal in order, also those of the time when it was away', async t => {
      const { start, heads } = await prepare(t)
      const requests: string[] = []
      let status = 503
      const server = createServer(async (request, response) => {
        const body = await text(request)
        assert.equal(request.headers.authorization, `Basic ${btoa('me:a word')}`)
        if (status === 200) requests.push(body)
        else refused.push(body)
        response.writeHead(status).end()
      })
      const refused: string[] = []
      await once(server.listen(0, '127.0.0.1'), 'listening')
      t.after(() => server.close().closeAllConnections())
      const target = `http://me:a%20word@127.0.0.1:${(server.address() as AddressInfo).port}/a-secret`
      const got = () => requests.flatMap(body => body.split('\n').filter(Boolean))

      const first = await start('--audit-anchor', target, '--workers', '2')
      const { token, url } = first.announced
      await until(() => refused.length > 0)
      await post(`${url}/v1`, token, 'one@example.com')
      status = 200
      await until(async () => got().at(-1) === (await heads()).at(-1))
      await post(`${url}/v1`, token, 'two@example.com')
      assert.equal(await first.stop(), 0)
      const before = await heads()
      assert.deepEqual(got(), before.slice(-got().length))
      assert.ok(got().length > 1)
      assert.equal(got()[0], refused[0]?.split('\n')[0], 'the first one that could not be delivered')
      assert.match(first.stderr(), /seals do not reach the audit anchor/)
      assert.match(first.stderr(), /seals reach the audit anchor again/)
      assert.doesNotMatch(first.stderr(), /a-secret|word/)

      requests.length = 0
      const second = await start('--audit-anchor', target)
      await until(() => got().length > 0)
      await second.stop()
      assert.deepEqual(got(), (await heads()).slice(before.length - 1))
    })
  })
}

test('a file that holds something else stays as it is, and other URLs are refused', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const path = join(folder.path, 'notes.txt')
  writeFileSync(path, 'not to be lost\n')
  const database = ['--database', `sqlite:${join(folder.path, 'test.db')}`]
  const service = await serveProcess([...database, '--audit-anchor', path])
  t.after(() => service.stop())
  await until(() => service.stderr().includes('choose another path'))
  assert.equal(await service.stop(), 0)
  assert.equal(readFileSync(path, 'utf8'), 'not to be lost\n')
  const compared = await runCommand(['audit', 'verify', ...database, '--anchor', path])
  assert.equal(compared.code, 1)
  assert.match(compared.stderr, /Line 1 of .* is not a head/)
  for (const target of ['', 'ftp://example.com/', 'https://']) {
    const refused = await affiliated(['serve', ...database, '--audit-anchor', target])
    assert.equal(refused.code, 2, target)
  }
})

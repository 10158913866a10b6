/**
 * The secret key is changed beside nodes that seal all the while, and the change is killed half-way: whatever was
 * taken opens by the key that is left. LONG=1 kills it thirty times.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { createHmac, randomInt } from 'node:crypto'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { mkdir, readdir, readFile, rename, stat, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { Secret, TOTP } from 'otpauth'
import { unsealedAccount } from '../src/programme/details/rules.ts'
import {
  affiliated,
  engines,
  openDatabase,
  runCommand,
  serveProcess,
  temporaryFolder,
  Visitor,
} from './harness.ts'
import { load, tally } from './load.ts'

const KILLS = process.env.LONG ? 30 : 1
const LONGEST_MS = 15
const launcher = fileURLToPath(new URL('../bin/affiliated.js', import.meta.url))

/** Kills the change of the key soon after it has put a new one into the file, or has forgotten the old one. */
async function killHalfWay(folder: string, key: string, args: string[]): Promise<void> {
  const child = spawn(process.execPath, [launcher, 'secret-key', 'rotate', ...args], { stdio: 'ignore' })
  const ended = once(child, 'exit')
  const watching = watch(folder, (_event, name) => {
    if (name?.startsWith(basename(key))) setTimeout(() => child.kill('SIGKILL'), randomInt(LONGEST_MS))
  })
  await ended
  watching.close()
}

const keysIn = async (file: string) => (await readFile(file, 'utf8')).trim().split('\n')

async function rotated(args: string[], environment = {}): Promise<{ resealed: number }> {
  const { code, stdout, stderr } = await affiliated(['secret-key', 'rotate', '--json', ...args], '', {
    environment,
  })
  assert.equal(code, 0, stderr)
  return JSON.parse(stdout)
}

describe('affiliated secret-key rotate', () => {
  for (const [engine, fresh] of Object.entries(engines)) {
    test(`${engine}: nothing that the workers of two running nodes seal is lost`, async t => {
      const { url, remove } = await fresh()
      const folder = await temporaryFolder()
      t.after(remove)
      t.after(folder.remove)
      const key = join(folder.path, 'key')
      const args = ['--database', url, '--secret-key-file', key]
      const serve = async () => {
        const process = await serveProcess([...args, '--workers', '2', '--log-level', 'fatal'])
        t.after(() => process.stop('SIGKILL'))
        return process
      }
      const service = await serve()
      const { login, password, token } = service.announced
      const send = (base: string, path: string, body: object) =>
        fetch(`${base}/v1${path}`, {
          method: 'POST',
          headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
          body: JSON.stringify(body),
        })
      const ask = async (base: string, path: string, body: object) => {
        const reply = await send(base, path, body)
        const answer = await reply.json()
        assert.equal(reply.status, 201, JSON.stringify(answer))
        return answer as { id: number }
      }
      const base = service.announced.url
      const node = await serve()
      const urls = [base, node.announced.url]
      await ask(base, '/affiliates', { create_user: true, payment_email: 'payee@example.com' })
      const visitor = new Visitor(base)
      assert.equal((await visitor.logIn(login, password)).status, 201)
      const { body: factor } = await visitor.post('/second-factor', { current_password: password })
      const source = { name: 'shop', type: 'woocommerce', context: 'shop', secret: 'a secret of the shop' }
      const first = await ask(base, '/sources', source)

      const details = { affiliate_id: 1, method: 'paypal', paypal_email: 'payee@example.com' }
      const writing = load(token, 4, number => {
        const url = `${urls[number % 2]}/v1`
        return number % 5 === 0
          ? { method: 'POST', url: `${url}/sources`, body: source }
          : { method: 'POST', url: `${url}/payment-details`, body: details }
      })
      t.after(writing.stop)
      for (let kill = 0; kill < KILLS; kill += 1) await killHalfWay(folder.path, key, args)
      await rotated(args)
      await delay(100)
      await writing.stop()
      assert.deepEqual(Object.keys(tally(writing.answers)), ['201'])
      assert.deepEqual(writing.lost, [])

      assert.equal((await keysIn(key)).length, 1)
      assert.equal((await stat(key)).mode & 0o777, 0o600)
      assert.deepEqual(
        (await readdir(folder.path)).filter(name => name !== 'key'),
        [],
      )
      const deliveredBy = async (base: string, id: number) => {
        const body = JSON.stringify({ id: 1 })
        const signature = createHmac('sha256', source.secret).update(body).digest('base64')
        const reply = await fetch(`${base}/v1/sources/${id}/deliveries`, {
          method: 'POST',
          headers: { 'content-type': 'application/json', 'x-wc-webhook-signature': signature },
          body,
        })
        return `${reply.status} ${await reply.text()}`
      }
      assert.match(await deliveredBy(base, first.id), /^200 /)
      const code = TOTP.generate({ secret: Secret.fromBase32(factor.secret) })
      assert.equal((await visitor.post('/second-factor/confirmation', { code })).status, 201)
      await service.stop()
      await node.stop()

      // One that knows only what is in the file now.
      const other = await serve()
      const database = await openDatabase(url, { secretKeyFile: key })
      t.after(() => database.close())
      const rows = await database.reader.selectFrom('payment_details').selectAll().execute()
      assert.ok(rows.length > 1)
      for (const row of rows) assert.deepEqual(unsealedAccount(row), { paypalEmail: 'payee@example.com' })
      for (const { id } of await database.reader.selectFrom('sources').select('id').execute()) {
        assert.match(await deliveredBy(other.announced.url, id), /^200 /)
      }

      // A new key in its place would seal what nobody can open once the old file is back.
      await rename(key, `${key}.away`)
      const reply = await send(other.announced.url, '/sources', source)
      assert.equal(reply.status, 409)
      assert.match(await reply.text(), /is gone: put .* back/)
      await rename(`${key}.away`, key)
      await ask(other.announced.url, '/sources', source)
      await other.stop()
    })
  }

  test('a key of SECRET_KEY is changed by putting the new one before it', async t => {
    const { url, remove } = await engines.SQLite!()
    t.after(remove)
    const [old, fresh] = [1, 2].map(byte => Buffer.alloc(32, byte).toString('base64'))
    const serving = (keys: string) =>
      serveProcess(['--database', url, '--log-level', 'fatal'], { environment: { SECRET_KEY: keys } })
    const service = await serving(old!)
    t.after(() => service.stop('SIGKILL'))
    const send = (path: string, body: object) =>
      fetch(`${service.announced.url}/v1${path}`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.announced.token}`, 'content-type': 'application/json' },
        body: JSON.stringify(body),
      })
    await send('/affiliates', { create_user: true, payment_email: 'payee@example.com' })
    const details = { affiliate_id: 1, method: 'paypal', paypal_email: 'payee@example.com' }
    assert.equal((await send('/payment-details', details)).status, 201)

    const args = ['--database', url]
    const environment = { SECRET_KEY: `${fresh},${old}` }
    assert.deepEqual(await rotated(args, environment), { resealed: 1 })
    // A node that still begins with the old key.
    assert.equal((await send('/payment-details', details)).status, 201)
    assert.deepEqual(await rotated(args, environment), { resealed: 1 })
    assert.deepEqual(await rotated(args, environment), { resealed: 0 })
  })

  test('1 - the service does not start on what a key has sealed that is gone, unless it is given up', async t => {
    const { url, remove } = await engines.SQLite!()
    t.after(remove)
    const [old, other] = [1, 2].map(byte => Buffer.alloc(32, byte).toString('base64'))
    const args = ['--database', url, '--log-level', 'fatal']
    const serving = (keys: string) => serveProcess(args, { environment: { SECRET_KEY: keys } })
    const service = await serving(old!)
    t.after(() => service.stop('SIGKILL'))
    const addSource = async (base: string) => {
      const reply = await fetch(`${base}/v1/sources`, {
        method: 'POST',
        headers: { authorization: `Bearer ${service.announced.token}`, 'content-type': 'application/json' },
        body: JSON.stringify({ name: 'shop', type: 'woocommerce', context: 'shop', secret: 'of the shop' }),
      })
      assert.equal(reply.status, 201, await reply.text())
    }
    await addSource(service.announced.url)
    await service.stop()
    const start = (environment: Record<string, string>) =>
      affiliated(['serve', '--port', '0', ...args], '', { environment })
    const withoutKey = await start({})
    assert.equal(withoutKey.code, 1)
    const said =
      /sealed by the secret key ([0-9a-f]{8}), which is not in .*\.key: put it back.*(lost:[0-9a-f]{8})/
    const [, name, lost] = said.exec(withoutKey.stderr) ?? []
    assert.equal(lost, `lost:${name}`, withoutKey.stderr)
    await assert.rejects(stat(`${url.slice('sqlite:'.length)}.key`), /ENOENT/)
    assert.equal((await start({ SECRET_KEY: other! })).code, 1)
    // Nor does a rotation make a key in the place of the one that is gone.
    const rotation = await runCommand(['secret-key', 'rotate', '--database', url])
    assert.equal(rotation.code, 1)
    assert.match(rotation.stderr, said)
    await assert.rejects(stat(`${url.slice('sqlite:'.length)}.key`), /ENOENT/)
    const after = await serving(`${other},${lost}`)
    t.after(() => after.stop('SIGKILL'))
    assert.equal((await fetch(`${after.announced.url}/readyz`)).status, 200)

    // What is given up stays so, and does not keep the key from being changed.
    await addSource(after.announced.url)
    const folder = await temporaryFolder()
    t.after(folder.remove)
    const file = join(folder.path, 'key')
    await writeFile(file, `${other}\n${lost}\n`, { mode: 0o600 })
    const changing = ['--database', url, '--secret-key-file', file]
    assert.deepEqual(await rotated(changing), { resealed: 1 })
    const [current, ...left] = await keysIn(file)
    assert.notEqual(current, other)
    assert.deepEqual(left, [lost])

    // One that is found again opens what it has sealed, and is forgotten like any other.
    await writeFile(file, `${current}\n${old}\n${lost}\n`)
    assert.deepEqual(await rotated(changing), { resealed: 1 })
    assert.deepEqual(await keysIn(file), [current])
  })
})

test('1 - a secret key file that is a folder, as a container runtime makes where a file is missing, is named', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const key = join(folder.path, 'key')
  await mkdir(key)
  const url = `sqlite:${join(folder.path, 'data.db')}`
  const { code, stderr } = await affiliated(['serve', '--database', url, '--secret-key-file', key])
  assert.equal(code, 1)
  assert.equal(stderr, `error: ${key} is a folder, and a file is needed.\n`)
})

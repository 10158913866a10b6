/** Where the log goes may be slow, full or gone. That costs lines at most, never a request. */
import assert from 'node:assert/strict'
import { execFileSync, spawn, spawnSync } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, constants, createReadStream, existsSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import pg from 'pg'
import { engines, serveProcess, temporaryFolder } from './harness.ts'
import { load, until } from './load.ts'

const FULL_DEVICE = '/dev/full'
/** More than a pipe takes (64 KiB) and several writes of each worker. */
const REQUESTS = 1500

for (const workers of ['1', '2']) {
  test(`200 and 0 - the disk of the log is full (${workers} processes)`, {
    skip: !existsSync(FULL_DEVICE),
  }, async t => {
    const log = openSync(FULL_DEVICE, 'w')
    const service = await serve(t, ['--workers', workers], log)
    closeSync(log)
    const answers = await ask(service.announced)
    assert.ok(answers.every(({ status }) => status === 200))
    assert.equal(await service.stop(), 0)
  })
}

test('200 and 0 - nobody reads the log any more', async t => {
  const service = await serve(t, [], 'pipe')
  service.child.stderr!.destroy()
  const answers = await ask(service.announced)
  assert.ok(answers.every(({ status }) => status === 200))
  assert.equal(await service.stop(), 0)
})

test('workers neither lose lines nor tear those of each other when they share a pipe that is read slowly', {
  skip: process.platform === 'win32',
}, async t => {
  const pipe = await openPipe(t)
  const service = await serve(t, ['--workers', '3'], pipe.writable)
  closeSync(pipe.writable)
  const answers = await ask(service.announced)
  const [log] = await Promise.all([text(pipe.read()), service.stop()])
  const lines = log.trim().split('\n')
  const requests = lines.filter(line => (JSON.parse(line) as { msg: string }).msg === 'request')
  assert.equal(requests.length, answers.length)
})

test('lines that nobody reads are dropped beyond some, which is told once somebody does', {
  skip: process.platform === 'win32',
}, async t => {
  const pipe = await openPipe(t)
  const lines = 100_000
  const program = `
    import { openLog } from '${new URL('../src/process/log.ts', import.meta.url)}'
    const { log, closeLog } = await openLog('info', false)
    for (let line = 1; line <= ${lines}; line += 1) log.info({ line }, '${'x'.repeat(100)}')
    process.stdin.on('end', closeLog).resume()
    console.log('logged')`
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], {
    stdio: ['pipe', 'pipe', pipe.writable],
  })
  t.after(() => child.kill('SIGKILL'))
  closeSync(pipe.writable)
  await once(child.stdout!, 'data')
  let log = ''
  const reader = pipe.read().on('data', chunk => {
    log += chunk
  })
  await until(() => log.includes('lines could not be logged'))
  child.stdin!.end()
  await once(reader, 'end')
  const entries = log
    .trim()
    .split('\n')
    .map(line => JSON.parse(line) as { line?: number; lines?: number })
  const written = entries.filter(({ line }) => line !== undefined)
  const dropped = entries.find(entry => entry.lines !== undefined)?.lines ?? 0
  assert.ok(dropped > 0)
  assert.equal(written.length + dropped, lines)
  assert.deepEqual(
    written.map(({ line }) => line),
    written.map((_, index) => index + 1),
  )
})

test('names who asks by identifiers, and no address of anybody', async t => {
  const service = await serve(t, [], 'pipe')
  const { url, login, password } = service.announced
  const send = (method: string, path: string, body?: object, headers = {}) =>
    fetch(`${url}/admin/api${path}`, {
      method,
      headers: { 'content-type': 'application/json', 'x-admin-request': '1', ...headers },
      ...(body && { body: JSON.stringify(body) }),
    })
  const logIn = async (name: string, secret: string) => {
    const reply = await send('POST', '/session', { login: name, password: secret })
    assert.equal(reply.status, 201)
    return { cookie: reply.headers.getSetCookie()[0]!.split(';', 1)[0]! }
  }
  const admin = await logIn(login, password)
  const named = { login: 'ada@example.com', email: 'ada@example.com', role: 'administrator' }
  const made = await send('POST', '/users', { ...named, password: 'a password of hers' }, admin)
  assert.equal(made.status, 201)
  const { id } = (await made.json()) as { id: number }
  const ada = await logIn('ada@example.com', 'a password of hers')
  assert.equal((await send('GET', '/users?search=ada@example.com', undefined, ada)).status, 200)
  assert.equal(await service.stop(), 0)
  assert.doesNotMatch(service.stderr(), /ada|example\.com/)
  assert.match(service.stderr(), new RegExp(`"key":"session of account ${id}"`))
})

test('a client that hangs up while its lines are worked on is no failure of the service', async t => {
  const service = await serve(t, [], 'pipe')
  const { url, token } = service.announced
  const body = '{"create_user":true}\n'.repeat(2000)
  for (const afterMs of [50, 100, 200, 400]) {
    const signal = AbortSignal.timeout(afterMs)
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/x-ndjson' }
    const sent = fetch(`${url}/v1/affiliates`, { method: 'POST', headers, body, signal }).then(reply =>
      reply.text(),
    )
    await sent.catch(() => {})
  }
  assert.equal(await service.stop(), 0)
  assert.doesNotMatch(service.stderr(), /request failed|PREMATURE/)
})

test('the message of a cause is added once', () => {
  const program = `
    import { openLog } from '${new URL('../src/process/log.ts', import.meta.url)}'
    const { log, closeLog } = await openLog('info', false)
    const cause = new Error('no answer')
    log.error(new Error('PostgreSQL: no answer', { cause }), 'said')
    log.error(new Error('not stored', { cause }), 'added')
    await closeLog()`
  const { stderr } = spawnSync(process.execPath, ['--input-type=module', '--eval', program], {
    encoding: 'utf8',
  })
  const messages = stderr
    .trim()
    .split('\n')
    .map(line => JSON.parse(line).err.message)
  assert.deepEqual(messages, ['PostgreSQL: no answer', 'not stored: no answer'])
})

test('500 - keeps the values of a row that PostgreSQL refuses out of the log', async t => {
  const fresh = await engines.PostgreSQL!()
  t.after(fresh.remove)
  const service = await serveProcess(['--database', fresh.url])
  t.after(() => service.stop('SIGKILL'))
  const client = new pg.Client(fresh.url)
  await client.connect()
  await client.query('ALTER TABLE affiliates ADD CONSTRAINT short CHECK (length(payment_email) < 10)')
  await client.end()
  const { url, token } = service.announced
  const reply = await fetch(`${url}/v1/affiliates?create_user=1&payment_email=ada.lovelace@example.com`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}` },
  })
  assert.equal(reply.status, 500)
  assert.equal(await service.stop(), 0)
  assert.match(service.stderr(), /request failed/)
  assert.match(service.stderr(), /violates check constraint/)
  assert.doesNotMatch(service.stderr(), /lovelace/)
})

async function serve(t: TestContext, args: string[], stderr: 'pipe' | number) {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const database = `sqlite:${join(folder.path, 'x.db')}`
  const service = await serveProcess([...args, '--log-level', 'info', '--database', database], { stderr })
  t.after(() => service.stop('SIGKILL'))
  return service
}

async function ask({ url, token }: { url: string; token: string }) {
  const clients = load(token, 24, () => ({ method: 'GET', url: `${url}/v1/affiliates` }))
  await until(() => clients.answers.length > REQUESTS)
  await clients.stop()
  assert.deepEqual(clients.lost, [])
  return clients.answers
}

/** A pipe of the system: what `spawn` calls one is a socket, which would not tear. */
async function openPipe(t: TestContext) {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const path = join(folder.path, 'log')
  execFileSync('sh', ['-c', 'mkfifo "$0"', path])
  const writable = openSync(path, constants.O_RDWR)
  const readable = openSync(path, constants.O_RDONLY)
  return { writable, read: () => createReadStream('', { fd: readable }) }
}

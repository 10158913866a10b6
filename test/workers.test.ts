/** One service of several processes, as an operator runs it. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdirSync, renameSync, rmdirSync } from 'node:fs'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { after, afterEach, before, beforeEach, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import {
  engines,
  type FreshDatabase,
  runCommand,
  type ServeProcess,
  serveProcess,
  temporaryFolder,
} from './harness.ts'
import { load, tally, until } from './load.ts'

const launcher = fileURLToPath(new URL('../bin/affiliated.js', import.meta.url))

for (const engine of Object.keys(engines)) {
  describe(`workers (${engine})`, () => {
    let fresh: FreshDatabase
    let service: ServeProcess
    before(async () => {
      fresh = await engines[engine]!()
      service = await serveProcess(['--workers', '2', '--log-level', 'info', '--database', fresh.url], {
        isFirst: true,
      })
    })
    after(async () => {
      await service.stop('SIGKILL')
      await fresh.remove()
    })

    const logged = (message: string) =>
      service
        .stderr()
        .split('\n')
        .filter(line => line.includes(`"msg":"${message}"`))
        .map(line => JSON.parse(line))
    const running = (clients = 8) =>
      load(service.announced.token, clients, number =>
        number % 4 === 0
          ? {
              method: 'POST',
              url: `${service.announced.url}/v1/affiliates`,
              body: {
                create_user: true,
                payment_email: `${process.pid}.${Date.now()}.${number}@example.com`,
              },
            }
          : { method: 'GET', url: `${service.announced.url}/v1/affiliates?number=3&order=desc` },
      )

    test('the first administrator is made once, and both processes listen', async () => {
      assert.equal(service.announced.login, 'admin')
      await until(() => logged('listening').length === 2)
    })

    test('a rolling restart loses no request', async () => {
      const clients = running()
      await until(() => clients.answers.length > 100)
      service.child.kill('SIGHUP')
      await until(() => logged('all workers were replaced').length === 1)
      await delay(300)
      await clients.stop()
      assert.deepEqual(clients.lost, [])
      assert.deepEqual(Object.keys(tally(clients.answers)).sort(), ['200', '201'])
      const processes = new Set(logged('listening').map(line => line.pid))
      assert.equal(processes.size, 4)
    })

    test('a worker that was killed is replaced', async () => {
      const before = logged('listening').length
      process.kill(logged('listening').at(-1).pid, 'SIGKILL')
      await until(() => logged('listening').length === before + 1)
      assert.equal(logged('a worker ended and is replaced').length, 1)
    })

    test('401 - a key that was revoked elsewhere, on every process within a second', async () => {
      const args = ['--json', '--database', fresh.url]
      const made = await runCommand(['keys', 'create', '--name', 'x', '--user', 'admin', ...args])
      const { public_key, token } = JSON.parse(made.stdout)
      const clients = load(token, 4, () => ({
        method: 'GET',
        url: `${service.announced.url}/v1/affiliates?number=1`,
      }))
      await until(() => clients.answers.length > 20)
      await runCommand(['keys', 'revoke', public_key, ...args])
      await delay(1000)
      const seen = clients.answers.length
      await until(() => clients.answers.length > seen + 20)
      await clients.stop()
      assert.deepEqual(Object.keys(tally(clients.answers.slice(seen))), ['401'])
    })

    test('SIGTERM under load: every answer that began is whole, and the exit code is 0', async () => {
      const clients = running()
      await until(() => clients.answers.length > 50)
      const startedAt = Date.now()
      const code = await service.stop()
      const durationMs = Date.now() - startedAt
      await clients.stop()
      assert.equal(code, 0)
      assert.ok(durationMs < 10_000, `${durationMs} ms`)
      assert.deepEqual(Object.keys(tally(clients.answers)).sort(), ['200', '201'])
      // A connection that no process had taken yet is refused or reset; no other is.
      assert.deepEqual(
        clients.lost.filter(({ taken }) => taken),
        [],
      )
    })
  })
}

describe('workers that cannot start', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let service: ServeProcess
  let file: string
  /** While this file is there no worker starts, and those that run go on. */
  let refusal: string
  beforeEach(async () => {
    folder = await temporaryFolder()
    file = join(folder.path, 'workers.db')
    refusal = join(folder.path, 'refused')
    const preload = join(folder.path, 'refuse.mjs')
    await writeFile(
      preload,
      `import cluster from 'node:cluster'
       import { existsSync } from 'node:fs'
       if (cluster.isWorker && existsSync(${JSON.stringify(refusal)})) throw new Error('refused')`,
    )
    const args = ['--workers', '2', '--log-level', 'info', '--database', `sqlite:${file}`]
    service = await serveProcess(args, { environment: { NODE_OPTIONS: `--import=${preload}` } })
  })
  afterEach(async () => {
    await service.stop('SIGKILL')
    await folder.remove()
  })

  /** A folder in the place of the file cannot be opened. */
  function takeAway(): void {
    renameSync(file, `${file}.aside`)
    mkdirSync(file)
  }
  function bringBack(): void {
    rmdirSync(file)
    renameSync(`${file}.aside`, file)
  }
  const count = (message: string) => service.stderr().split(message).length - 1
  const processes = () => service.stderr().match(/"pid":\d+,"msg":"listening"/g) ?? []
  function killWorkers(): void {
    for (const line of processes()) process.kill(Number(/\d+/.exec(line)![0]), 'SIGKILL')
  }
  const answers = () =>
    fetch(`${service.announced.url}/readyz`).then(
      ({ status }) => status === 200,
      () => false,
    )

  test('are tried again until the database is there', async () => {
    await until(() => processes().length === 2)
    takeAway()
    killWorkers()
    await until(() => count('cannot be opened') >= 3)
    bringBack()
    await until(() => processes().length === 4)
    assert.ok(await answers())
    assert.equal(await service.stop(), 0)
  })

  test('0 - SIGTERM while nobody can start, in a pause that is long', async () => {
    await until(() => processes().length === 2)
    takeAway()
    killWorkers()
    // After these, the next try is more than six seconds away.
    await until(() => count('a worker was not replaced') >= 6)
    const startedAt = Date.now()
    assert.equal(await service.stop(), 0)
    assert.ok(Date.now() - startedAt < 6000)
  })

  test('keep their predecessors in a rolling restart, which is logged', async () => {
    await until(() => processes().length === 2)
    await writeFile(refusal, '')
    service.child.kill('SIGHUP')
    await until(() => count('the workers were not all replaced') === 1)
    assert.ok(await answers())
    await rm(refusal)
    service.child.kill('SIGHUP')
    await until(() => count('all workers were replaced') === 1)
    assert.ok(await answers())
    assert.equal(processes().length, 4)
    assert.equal(await service.stop(), 0)
  })
})

test('0 - SIGTERM while the first worker is still starting', async t => {
  const folder = await temporaryFolder()
  const preload = join(folder.path, 'slow.mjs')
  await writeFile(
    preload,
    `import cluster from 'node:cluster'
     if (cluster.isWorker) {
       console.error('a worker starts')
       await new Promise(() => setInterval(() => {}, 1000))
     }`,
  )
  const database = `sqlite:${join(folder.path, 'x.db')}`
  const args = ['serve', '--port', '0', '--workers', '2', '--database', database]
  const child = spawn(process.execPath, ['--import', preload, launcher, ...args])
  t.after(async () => {
    child.kill('SIGKILL')
    await folder.remove()
  })
  const exited = once(child, 'exit')
  let stderr = ''
  child.stderr.on('data', chunk => {
    stderr += chunk
  })
  await until(() => stderr.includes('a worker starts'))
  const startedAt = Date.now()
  child.kill()
  assert.deepEqual(await exited, [0, null])
  // A worker that is under way is given eleven seconds.
  assert.ok(Date.now() - startedAt < 10_000)
})

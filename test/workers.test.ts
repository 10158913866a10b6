/** One service of several processes, as an operator runs it. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { affiliated, engines, type FreshDatabase, type ServeProcess, serveProcess } from './harness.ts'
import { load, tally, until } from './load.ts'

for (const engine of Object.keys(engines)) {
  describe(`workers (${engine})`, () => {
    let fresh: FreshDatabase
    let service: ServeProcess
    before(async () => {
      fresh = await engines[engine]!()
      service = await serveProcess(['--workers', '2', '--log-level', 'info', '--database', fresh.url])
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
      await until(() => logged('listening').length === 2, 5000)
    })

    test('a rolling restart loses no request', async () => {
      const clients = running()
      await until(() => clients.answers.length > 100, 10_000)
      service.child.kill('SIGHUP')
      await until(() => logged('all workers were replaced').length === 1, 20_000)
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
      await until(() => logged('listening').length === before + 1, 10_000)
      assert.equal(logged('a worker ended and is replaced').length, 1)
    })

    test('401 - a key that was revoked elsewhere, on every process within a second', async () => {
      const args = ['--json', '--database', fresh.url]
      const made = await affiliated(['keys', 'create', '--name', 'x', '--user', 'admin', ...args])
      const { public_key, token } = JSON.parse(made.stdout)
      const clients = load(token, 4, () => ({
        method: 'GET',
        url: `${service.announced.url}/v1/affiliates?number=1`,
      }))
      await until(() => clients.answers.length > 20, 5000)
      await affiliated(['keys', 'revoke', public_key, ...args])
      await delay(1000)
      const seen = clients.answers.length
      await until(() => clients.answers.length > seen + 20, 5000)
      await clients.stop()
      assert.deepEqual(Object.keys(tally(clients.answers.slice(seen))), ['401'])
    })

    test('SIGTERM under load: every answer that began is whole, and the exit code is 0', async () => {
      const clients = running()
      await until(() => clients.answers.length > 50, 10_000)
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

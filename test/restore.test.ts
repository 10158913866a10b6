/** Somebody starts the service while a backup is restored. */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { watch } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { runCommand, serveProcess, temporaryFolder } from './harness.ts'

const launcher = fileURLToPath(new URL('../bin/affiliated.js', import.meta.url))

/** A database with a backup that has another affiliate, and a restoration of it that was stopped half-way. */
async function stoppedRestoration(t: TestContext) {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const database = ['--database', `sqlite:${join(folder.path, 'data.db')}`]
  const backup = join(folder.path, 'backup.db')
  for (const command of [
    ['demo', '--affiliates', '3000', '--payouts', '9000'],
    ['backup', backup],
    ['users', 'create', '--login', 'later', '--email', 'later@example.com'],
  ]) {
    const { code, stderr } = await runCommand([...command, ...database])
    assert.equal(code, 0, stderr)
  }
  const begun = Promise.withResolvers<void>()
  const watching = watch(folder.path, (_event, name) => {
    if (name?.endsWith('.partial')) begun.resolve()
  })
  const restoring = spawn(process.execPath, [launcher, 'restore', backup, ...database])
  t.after(() => restoring.kill('SIGKILL'))
  await begun.promise
  watching.close()
  restoring.kill('SIGSTOP')
  const goOn = async () => {
    restoring.kill('SIGCONT')
    const [stderr, [code]] = await Promise.all([text(restoring.stderr), once(restoring, 'exit')])
    assert.equal(code, 0, stderr)
  }
  assert.ok(
    (await readdir(folder.path)).some(name => name.endsWith('.partial')),
    'it is half-way',
  )
  const logins = async () => {
    const { stdout } = await runCommand(['users', 'list', '--json', ...database])
    return JSON.parse(stdout).users.map((user: { login: string }) => user.login) as string[]
  }
  return { database, goOn, logins }
}

test('1 - the service does not start while a restoration is under way', async t => {
  const { database, goOn, logins } = await stoppedRestoration(t)
  await assert.rejects(serveProcess(database, { isFirst: true }), /ended with 1: error: .*locked/)
  await goOn()
  assert.ok(!(await logins()).includes('later'))
})

test('0 - a service that waits for a restoration begins with what was restored, and loses nothing', async t => {
  const { database, goOn, logins } = await stoppedRestoration(t)
  const starting = serveProcess([...database, '--no-bootstrap'], { isFirst: true })
  // It waits for five seconds at most; a machine under load takes a while until it does.
  await delay(2500)
  const [service] = await Promise.all([starting, goOn()])
  t.after(() => service.stop('SIGKILL'))
  assert.ok(!(await logins()).includes('later'))
  const create = ['users', 'create', '--login', 'after', '--email', 'after@example.com', ...database]
  assert.equal((await runCommand(create)).code, 0)
  assert.equal((await fetch(`${service.announced.url}/readyz`)).status, 200)
  assert.equal(await service.stop(), 0)
  assert.ok((await logins()).includes('after'))
})

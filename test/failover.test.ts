/** What was answered survives the machine of the database, and the nodes need no restart. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { features } from '../src/app.ts'
import { sealEntries } from '../src/events/seal.ts'
import { checkDatabase } from '../src/operations/check/rules.ts'
import { FreezableWire } from './freezable.ts'
import { assertFailure, openDatabase, serveProcess, serviceOn } from './harness.ts'
import { load, until } from './load.ts'
import { execute, freshDatabase, PostgresServer } from './postgres.ts'

const WRITERS = 16
/** Much less than a statement may take, which is what those who wait for the old server would wait. */
const RECOVER_WITHIN_MS = 5000

test('201 - again, after a standby has taken the place of a server that is silent', {
  timeout: 120_000,
}, async t => {
  const primary = await PostgresServer.launch(['fsync=off'])
  const standby = await primary.standby(0)
  await execute(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'")
  await execute(primary.url, 'SELECT pg_reload_conf()')
  const { url } = await freshDatabase(primary.url)
  const wire = await FreezableWire.to(primary.port)
  const through = (port: number) => url.replace(`:${primary.port}/`, `:${port}/`)
  const service = await serveProcess(['--database', through(wire.port), '--log-level', 'fatal'])
  t.after(async () => {
    await service.stop('SIGKILL')
    wire.close()
    await standby.remove()
    await primary.remove()
  })
  const writers = load(service.announced.token!, WRITERS, number => ({
    method: 'POST',
    url: `${service.announced.url}/v1/affiliates`,
    body: { create_user: true, payment_email: `${number}@example.com` },
  }))
  t.after(writers.stop)
  await until(() => writers.answers.length > 200)
  const [receiver] = await execute(standby.url, 'SELECT pid FROM pg_stat_wal_receiver')
  process.kill(Number(receiver!.pid), 'SIGSTOP')
  // What waits for the standby when the server is gone is in doubt.
  const waiting = "SELECT pid FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
  await until(async () => (await execute(primary.url, waiting)).length > 0)
  wire.moveTo(standby.port)
  process.kill(Number(receiver!.pid), 'SIGCONT')
  await execute(through(standby.port), 'SELECT pg_promote()')
  const promoted = writers.answers.length
  const isAnswered = () => writers.answers.slice(promoted).filter(({ status }) => status === 201).length > 50
  await until(isAnswered, RECOVER_WITHIN_MS)
  await writers.stop()
  assert.deepEqual(writers.lost, [])
  assert.deepEqual([...new Set(writers.answers.map(({ status }) => status))].sort(), [201, 503])

  const database = await openDatabase(through(standby.port))
  const rows = await database.reader.selectFrom('affiliates').select('id').execute()
  const kept = new Set(rows.map(({ id }) => id))
  const created = writers.answers.filter(({ status }) => status === 201)
  assert.deepEqual(
    created.filter(({ body }) => !kept.has(JSON.parse(body).id)),
    [],
  )
  await sealEntries(database)
  const { problems } = await checkDatabase(database, features)
  await database.close()
  assert.deepEqual(problems, [])
})

test('503 - in doubt, where somebody ends the wait for a standby that is away', {
  timeout: 60_000,
}, async t => {
  const server = await PostgresServer.launch(['fsync=off'])
  const service = await serviceOn(await freshDatabase(server.url))
  const wait = async (names: string) => {
    await execute(server.url, `ALTER SYSTEM SET synchronous_standby_names = '${names}'`)
    await execute(server.url, 'SELECT pg_reload_conf()')
  }
  t.after(async () => {
    await wait('')
    await service.close()
    await server.remove()
  })
  await wait('*')
  const creating = service.post('/affiliates', { create_user: true, payment_email: 'alone@example.com' })
  const cancel = "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'"
  const cancelling = setInterval(() => void execute(server.url, cancel), 200)
  const refused = await creating
  clearInterval(cancelling)
  assertFailure(refused, 503, 'rest_unavailable')
  assert.match(refused.body.message, /Look whether the change was made/)
  await wait('')
  await until(async () => (await service.get('/affiliates?search=alone@example.com')).body.length === 1)
  await service.newAffiliate('with.others')
})

/** Under load the machine of the database goes without a word, and a standby takes its place. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { features } from '../src/app.ts'
import { sealEntries } from '../src/events/seal.ts'
import { checkDatabase } from '../src/operations/check/rules.ts'
import { FreezableWire } from './freezable.ts'
import { openDatabase, serveProcess } from './harness.ts'
import { load, until } from './load.ts'
import { execute, freshDatabase, PostgresServer } from './postgres.ts'

const WRITERS = 16
/** Much less than a statement may take, which is what those who wait for the old server would wait. */
const RECOVER_WITHIN_MS = 5000

test('201 - again, after a standby has taken the place of a server that is silent', {
  timeout: 120_000,
}, async t => {
  const primary = await PostgresServer.launch(['fsync=off'])
  t.after(() => primary.remove())
  const standby = await primary.standby(0)
  t.after(() => standby.remove())
  await execute(primary.url, "ALTER SYSTEM SET synchronous_standby_names = '*'")
  await execute(primary.url, 'SELECT pg_reload_conf()')
  const { url } = await freshDatabase(primary.url)
  const wire = await FreezableWire.to(primary.port)
  t.after(() => wire.close())
  const through = (port: number) => url.replace(`:${primary.port}/`, `:${port}/`)
  const service = await serveProcess(['--database', through(wire.port), '--log-level', 'fatal'])
  t.after(() => service.stop('SIGKILL'))
  const writers = load(service.announced.token!, WRITERS, number => ({
    method: 'POST',
    url: `${service.announced.url}/v1/affiliates`,
    body: { create_user: true, payment_email: `${number}@example.com` },
  }))
  t.after(writers.stop)
  await until(() => writers.answers.length > 200)
  wire.moveTo(standby.port)
  await execute(through(standby.port), 'SELECT pg_promote()')
  const promoted = writers.answers.length
  const isAnswered = () => writers.answers.slice(promoted).filter(({ status }) => status === 201).length > 50
  await until(isAnswered, RECOVER_WITHIN_MS)
  await writers.stop()
  assert.deepEqual(writers.lost, [])
  assert.deepEqual([...new Set(writers.answers.map(({ status }) => status))].sort(), [201, 503])

  const database = await openDatabase(through(standby.port))
  t.after(() => database.close())
  const rows = await database.reader.selectFrom('affiliates').select('id').execute()
  const kept = new Set(rows.map(({ id }) => id))
  const created = writers.answers.filter(({ status }) => status === 201)
  assert.deepEqual(
    created.filter(({ body }) => !kept.has(JSON.parse(body).id)),
    [],
  )
  await sealEntries(database)
  assert.deepEqual((await checkDatabase(database, features)).problems, [])
})

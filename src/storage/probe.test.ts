/** A database that neither confirms nor refuses a write, as where a network disk hangs: no engine can be made to do so here. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseUnavailable } from './database.ts'
import { WriteProbe } from './probe.ts'

const STALLED_MS = 700
/** After this the next write is tried. */
const BETWEEN_MS = 2000

test('writes that hang are noticed, asked for once, and forgotten when they go on', async () => {
  const goOn = Promise.withResolvers<void>()
  let asked = 0
  const probe = new WriteProbe(() => {
    asked += 1
    return goOn.promise
  }, STALLED_MS)
  // Others may be writing.
  await probe.look()
  await delay(STALLED_MS)
  await assert.rejects(probe.look(), DatabaseUnavailable)
  await assert.rejects(probe.look(), /^DatabaseUnavailable: A write has waited \d seconds for the database/)
  assert.equal(asked, 1)
  goOn.resolve()
  await delay(1)
  await probe.look()
})

test('writes that are given up after they have hung leave it at that, until one is taken', async () => {
  let going = Promise.withResolvers<void>()
  const probe = new WriteProbe(() => going.promise, STALLED_MS)
  await probe.look()
  await delay(STALLED_MS)
  await assert.rejects(probe.look(), /has waited/)
  going.reject(new DatabaseUnavailable('no answer'))
  await delay(BETWEEN_MS)
  going = Promise.withResolvers()
  await assert.rejects(probe.look(), /has waited 3 seconds/)
  going.resolve()
  await delay(1)
  await probe.look()
})

test('a read that waits behind others keeps nobody who asks, and is asked for once', async () => {
  const goOn = Promise.withResolvers<void>()
  let asked = 0
  const read = () => {
    asked += 1
    return goOn.promise
  }
  const probe = new WriteProbe(async () => {})
  await Promise.all([probe.look(read), probe.look(read)])
  assert.equal(asked, 1)
  goOn.reject(new DatabaseUnavailable('no answer'))
  await delay(1)
  await assert.rejects(
    probe.look(() => Promise.reject(new DatabaseUnavailable('gone'))),
    /gone/,
  )
})

/** A database that neither confirms nor refuses a write, as where a network disk hangs: no engine can be made to do so here. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { DatabaseUnavailable } from './database.ts'
import { ReadinessProbe } from './probe.ts'

const STALLED_MS = 700
/** After this the next write is tried. */
const BETWEEN_MS = 2000
/** Reads are answered meanwhile. */
const read = async () => {}

test('writes that hang are noticed, asked for once, and forgotten when they go on', async () => {
  const goOn = Promise.withResolvers<void>()
  let asked = 0
  const probe = new ReadinessProbe(() => {
    asked += 1
    return goOn.promise
  }, STALLED_MS)
  // Others may be writing.
  await probe.look(read)
  await delay(STALLED_MS)
  await assert.rejects(probe.look(read), DatabaseUnavailable)
  await assert.rejects(
    probe.look(read),
    /^DatabaseUnavailable: A write has waited \d seconds for the database/,
  )
  assert.equal(asked, 1)
  goOn.resolve()
  await delay(1)
  await probe.look(read)
})

test('writes that are given up after they have hung leave it at that, until one is taken', async () => {
  let going = Promise.withResolvers<void>()
  const probe = new ReadinessProbe(() => going.promise, STALLED_MS)
  await probe.look(read)
  await delay(STALLED_MS)
  await assert.rejects(probe.look(read), /has waited/)
  going.reject(new DatabaseUnavailable('no answer'))
  await delay(BETWEEN_MS)
  going = Promise.withResolvers()
  await assert.rejects(probe.look(read), /has waited 3 seconds/)
  going.resolve()
  await delay(1)
  await probe.look(read)
})

test('a read that waits behind others keeps nobody who asks, and is asked for once', async () => {
  const goOn = Promise.withResolvers<void>()
  let asked = 0
  const waiting = () => {
    asked += 1
    return goOn.promise
  }
  const probe = new ReadinessProbe(async () => {})
  await Promise.all([probe.look(waiting), probe.look(waiting)])
  assert.equal(asked, 1)
  goOn.reject(new DatabaseUnavailable('no answer'))
  await delay(1)
  await assert.rejects(
    probe.look(() => Promise.reject(new DatabaseUnavailable('gone'))),
    /gone/,
  )
})

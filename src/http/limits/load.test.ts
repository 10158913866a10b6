import assert from 'node:assert/strict'
import { Socket } from 'node:net'
import { type TestContext, test } from 'node:test'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { Load } from './load.ts'

/** @returns how many of the requests that arrive in one turn are refused after turns that were long */
async function refused(load: Load, requests: number): Promise<number> {
  const spend = () => {
    const until = performance.now() + 30
    while (performance.now() < until);
  }
  for (let turn = 0; turn < 3; turn += 1) {
    assert.equal(load.tooMuch, false)
    spend()
    await nextTurn()
  }
  const first = load.tooMuch
  spend()
  return Array.from({ length: requests - 1 }, () => load.tooMuch).filter(Boolean).length + Number(first)
}

function connect(t: TestContext, load: Load, connections: number): Socket[] {
  const sockets = Array.from({ length: connections }, () => new Socket())
  for (const socket of sockets) load.connected(socket)
  t.after(() => {
    for (const socket of sockets) socket.destroy()
  })
  return sockets
}

test('some hundred callers at the same moment - all are accepted, however long the turn', async t => {
  const load = new Load(1000)
  connect(t, load, 200)
  assert.equal(await refused(load, 200), 0)
})

test('more callers - in a turn that is long some are refused, until the others have gone', async t => {
  const load = new Load(1000)
  const sockets = connect(t, load, 257)
  assert.equal(await refused(load, 200), 136)
  await nextTurn()
  sockets[0]!.destroy()
  await nextTurn()
  assert.equal(await refused(load, 200), 0)
})

test('whoever has as much under way as may be is refused, and nobody else, until each has an equal share', async () => {
  const load = new Load(1000)
  const begun = Array.from({ length: 768 }, () => load.begin('much'))
  assert.throws(() => load.begin('much'), { failure: 'overloaded' })
  assert.equal(load.tooMuch, false)
  for (let caller = 0; caller < 256; caller += 1) begun.push(load.begin(`${caller % 4}`))
  assert.equal(load.tooMuch, true)
  await delay(300)
  for (const end of begun) end()
  // However slow it is, a caller alone has as many as before.
  for (let time = 0; time < 10; time += 1) {
    const slow = Array.from({ length: 256 }, () => load.begin('much'))
    await delay(300)
    for (const end of slow) end()
  }
  for (let number = 0; number < 256; number += 1) load.begin('much')
  assert.equal(load.hasItsShare('much'), true)
  for (let number = 0; number < 128; number += 1) load.begin('other')
  assert.throws(() => load.begin('other'), { failure: 'overloaded' })
  load.begin('third')
  assert.equal(load.tooMuch, false)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay, setImmediate as nextTurn } from 'node:timers/promises'
import { Load } from './load.ts'

/** @returns how many of the requests that arrive in one turn are refused after turns that were long */
async function refused(load: Load, requests: number): Promise<number> {
  const spend = () => {
    const until = performance.now() + 30
    while (performance.now() < until);
  }
  for (let turn = 0; turn < 3; turn += 1) {
    assert.equal(load.accept(), true)
    spend()
    await nextTurn()
  }
  const first = load.accept()
  spend()
  const others = Array.from({ length: requests - 1 }, () => load.accept())
  return [first, ...others].filter(isAccepted => !isAccepted).length
}

const connections = (open: number) => ({ open })

test('some hundred callers at the same moment - all are accepted, however long the turn', async () => {
  const load = new Load(1000, connections(200))
  assert.equal(await refused(load, 200), 0)
})

test('more callers - in a turn that is long some are refused, until the others have gone', async () => {
  const callers = connections(257)
  const load = new Load(1000, callers)
  assert.equal(await refused(load, 200), 136)
  await nextTurn()
  callers.open -= 1
  await nextTurn()
  assert.equal(await refused(load, 200), 0)
})

test('whoever has as much under way as may be is refused, and nobody else, until each has an equal share', async () => {
  const load = new Load(1000, connections(0))
  const begun = Array.from({ length: 768 }, () => load.begin('much'))
  assert.throws(() => load.begin('much'), { failure: 'overloaded' })
  assert.equal(load.accept(), true)
  for (let caller = 0; caller < 256; caller += 1) begun.push(load.begin(`${caller % 4}`))
  assert.equal(load.accept(), false)
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
  assert.equal(load.accept(), true)
})

test('what takes long is refused before it piles up, and taken again afterwards', async () => {
  const load = new Load(1000, connections(0))
  const begun = Array.from({ length: 1024 }, (_, number) => load.begin(`${number}`))
  assert.equal(load.accept(), false)
  await delay(300)
  for (const end of begun) end()
  assert.equal(load.accept(), true)
  // They took 300 ms each: from now on fewer are taken.
  const fewer = Array.from({ length: 900 }, (_, number) => load.begin(`${number}`))
  assert.equal(load.accept(), false)
  for (const end of fewer) end()
})

test('a single long turn of the event loop refuses nobody, one after the other do', async t => {
  let time = 1000
  // The machine's own would add turns that are long because others have the processor.
  t.mock.method(performance, 'now', () => time)
  const load = new Load(1000, connections(0))
  const turn = async () => {
    let refused = 0
    for (const end = time + 80; time < end; time += 0.1) if (!load.accept()) refused += 1
    await nextTurn()
    return refused
  }
  assert.equal(await turn(), 0)
  assert.equal(load.accept(), true)
  time += 1
  await nextTurn()
  await turn()
  await turn()
  assert.ok((await turn()) > 0)
  time += 1100
  assert.equal(await turn(), 0)
})

test('the thirty-third who waits for a hash is refused, until one of them has it', () => {
  const load = new Load(1000, connections(0))
  const ends = Array.from({ length: 32 }, () => load.hash())
  assert.throws(() => load.hash(), { failure: 'overloaded' })
  ends[0]!()
  load.hash()
  assert.throws(() => load.hash(), { failure: 'overloaded' })
})

test('streams are counted by caller', () => {
  const load = new Load(1000, connections(0))
  const ends = Array.from({ length: 16 }, () => load.stream('a'))
  assert.throws(() => load.stream('a'), { failure: 'too_many_streams' })
  ends[0]!()
  load.stream('a')
  for (let caller = 0; caller < 7; caller += 1) {
    for (let number = 0; number < 16; number += 1) load.stream(`b${caller}`)
  }
  assert.throws(() => load.stream('c'), { failure: 'overloaded' })
})

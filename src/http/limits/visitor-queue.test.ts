import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { VisitorQueue } from './visitor-queue.ts'

/** Keeps the processor busy, as answering does. */
function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('visitors are answered in their order, some in each turn, so that others come between', async () => {
  const queue = new VisitorQueue()
  const answered: number[] = []
  for (let number = 0; number < 20; number += 1) {
    queue.add(() => {
      work(2)
      answered.push(number)
    })
  }
  assert.equal(answered.length, 0, 'what arrives in the same turn goes first')
  await turn()
  assert.ok(answered.length > 0 && answered.length < 20, `${answered.length}`)
  // Who comes now stands behind those who wait.
  queue.add(() => answered.push(20))
  while (answered.length < 21) await turn()
  assert.deepEqual(
    answered,
    Array.from({ length: 21 }, (_, number) => number),
  )
})

test('whoever would wait behind thousands is refused, until some are answered', async () => {
  const queue = new VisitorQueue()
  let answered = 0
  const add = () => queue.add(() => (answered += 1))
  let added = 0
  while (add()) added += 1
  while (answered < added) await turn()
  assert.ok(add())
})

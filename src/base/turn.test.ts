import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate as turn } from 'node:timers/promises'
import { afterAnswers, sendWithOthers } from './turn.ts'

/** Keeps the processor busy, as performing a request does. */
function work(ms: number): void {
  const until = performance.now() + ms
  while (performance.now() < until);
}

test('answers of a turn are sent at its end, in their order, each once', async () => {
  const sent: string[] = []
  const names = ['first', 'second', 'third']
  for (const name of names) sendWithOthers(() => sent.push(name))
  assert.equal(sent.length, 0)
  await turn()
  assert.deepEqual(sent, names)
  sendWithOthers(() => sent.push('of the next turn'))
  assert.equal(sent.length, 3)
  await turn()
  assert.deepEqual(sent.slice(3), ['of the next turn'])
})

test('an answer waits for a part of a long turn only', async () => {
  const sent: string[] = []
  sendWithOthers(() => sent.push('first'))
  work(5)
  sendWithOthers(() => sent.push('after long work'))
  assert.deepEqual(sent, ['first', 'after long work'])
  sendWithOthers(() => sent.push('last'))
  assert.equal(sent.length, 2)
  await turn()
  assert.deepEqual(sent.slice(2), ['last'])
})

test('answers are sent before longer work, whichever came first', async () => {
  const done: string[] = []
  afterAnswers(() => done.push('work'))
  sendWithOthers(() => done.push('answer'))
  await turn()
  assert.deepEqual(done, ['answer', 'work'])
})

test('what is held while others are sent is sent as well', async () => {
  const sent: string[] = []
  sendWithOthers(() => {
    sent.push('first')
    sendWithOthers(() => sent.push('held by the first'))
  })
  await turn()
  await turn()
  assert.deepEqual(sent, ['first', 'held by the first'])
})

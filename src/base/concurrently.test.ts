import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { forEachConcurrently } from './concurrently.ts'

const numbered = (count: number) => Array.from({ length: count }, (_, number) => number)

test('up to 50 items are worked on at a time', async () => {
  let [current, most] = [0, 0]
  const done: number[] = []
  await forEachConcurrently(numbered(120), async item => {
    current += 1
    most = Math.max(most, current)
    await delay(1)
    current -= 1
    done.push(item)
  })
  assert.equal(most, 50)
  assert.deepEqual(
    done.sort((a, b) => a - b),
    numbered(120),
  )
})

test('if one fails, those that were begun end first, and no others begin', async () => {
  const [begun, ended]: number[][] = [[], []]
  const working = forEachConcurrently(numbered(60), async item => {
    begun!.push(item)
    await delay(item === 1 ? 1 : 20)
    if (item < 2) throw new Error(`${item} failed`)
    ended!.push(item)
  })
  await assert.rejects(working, /^Error: 1 failed$/)
  assert.deepEqual(begun, numbered(50))
  assert.equal(ended!.length, 48)
})

import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Type } from 'typebox'
import { linesOf } from './create-lines.ts'
import type { Call } from './endpoint.ts'

test('others are answered while lines of many names are read', async () => {
  const lines = linesOf({
    arguments: Type.Object({}),
    result: {},
    problems: async () => ({}),
    create: async () => 1,
    createMany: async (_context, all) => all.map(() => 1),
    tell: () => ({ members: '' }),
  })
  const names = Array.from({ length: 10_000 }, (_, number) => `"n${number}":0`)
  let isDone = false
  const performed = lines
    .perform(
      { settings: { current: async () => ({}) } } as unknown as Call,
      Array(10).fill(`{${names}}`),
      false,
    )
    .finally(() => {
      isDone = true
    })
  let turns = 0
  for (; !isDone; turns += 1) await setImmediate()
  assert.equal((await performed).length, 10)
  assert.ok(turns >= 10, `${turns}`)
})

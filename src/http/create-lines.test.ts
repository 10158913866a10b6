import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { Type } from 'typebox'
import { describeService, operatorOf } from '../../test/harness.ts'
import { Failure } from '../base/errors.ts'
import { inTransaction } from '../events/write.ts'
import { creative } from '../programme/creatives/creative.ts'
import { plainRules } from '../records/rules.ts'
import { storeOf } from '../records/store.ts'
import { createLines } from './create-lines.ts'
import type { Call } from './endpoint.ts'

test('others are answered while lines of many names are read', async () => {
  const lines = createLines({
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

describeService('lines whose result cannot be written', service => {
  const rules = plainRules(creative, storeOf(creative))
  const lines = createLines<{ name: string }>({
    arguments: creative.create,
    result: {},
    problems: rules.problems,
    create: rules.create,
    tell: ({ name }) => {
      if (name === 'unspeakable') throw new TypeError('a defect')
      return { members: `"name":"${name}"` }
    },
  })

  test('500 - of that line alone, whose record is not created either', async () => {
    const by = operatorOf(service().database)
    const texts = ['first', 'unspeakable', 'third'].map(name => JSON.stringify({ name }))
    const perform = (careful: boolean) =>
      by.database.transaction(tx => lines.perform(inTransaction(by, tx) as Call, texts, careful))
    await assert.rejects(() => perform(false), /a defect/)
    const results = await perform(true)
    assert.deepEqual(
      results.map(one => (one instanceof Failure ? one.failure : one.members)),
      ['"name":"first"', 'internal', '"name":"third"'],
    )
    const rows = (await service().get('/creatives')).body
    assert.deepEqual(rows.map((one: { name: string }) => one.name).sort(), ['first', 'third'])
  })
})

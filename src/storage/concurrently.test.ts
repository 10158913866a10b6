import assert from 'node:assert/strict'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { describeService } from '../../test/harness.ts'
import { forEachConcurrently, forEachInTurn } from './concurrently.ts'
import type { Tx } from './database.ts'

const numbered = (count: number) => Array.from({ length: count }, (_, number) => number)

describeService('work on many items in a transaction', service => {
  for (const [name, forEach] of Object.entries({
    forEachConcurrently,
    forEachInTurn: (_tx: Tx, items: number[], work: (item: number) => Promise<void>) =>
      forEachInTurn(items, work),
  })) {
    test(`${name}: others get a turn meanwhile`, async t => {
      let turns = 0
      const counting = setInterval(() => {
        turns += 1
      }, 0)
      t.after(() => clearInterval(counting))
      const done: number[] = []
      await service().database.transaction(tx =>
        forEach(tx, numbered(120), async number => {
          // As a statement of the embedded engine: without a turn of the event loop.
          const end = performance.now() + 1
          while (performance.now() < end);
          done.push(number)
        }),
      )
      assert.deepEqual(done, numbered(120))
      assert.ok(turns > 0)
    })
  }

  test('some are worked on at a time, and those that share round trips by the dozen', async () => {
    let [current, most] = [0, 0]
    const done: number[] = []
    await service().database.transaction(tx =>
      forEachConcurrently(tx, numbered(120), async item => {
        current += 1
        most = Math.max(most, current)
        await delay(1)
        current -= 1
        done.push(item)
      }),
    )
    assert.equal(most, service().database.engine.name === 'SQLite' ? 8 : 50)
    assert.deepEqual(
      done.sort((a, b) => a - b),
      numbered(120),
    )
  })

  test('if one fails, those that were begun end first, and no others begin', async () => {
    const [begun, ended]: number[][] = [[], []]
    const working = service().database.transaction(tx =>
      forEachConcurrently(tx, numbered(60), async item => {
        begun!.push(item)
        await delay(item === 1 ? 1 : 20)
        if (item < 2) throw new Error(`${item} failed`)
        ended!.push(item)
      }),
    )
    await assert.rejects(working, /^Error: 1 failed$/)
    const size = service().database.engine.name === 'SQLite' ? 8 : 50
    assert.deepEqual(begun, numbered(size))
    assert.equal(ended!.length, size - 2)
  })
})

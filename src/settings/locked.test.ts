/** What transactions read of the settings, those that share a commit among them. */
import assert from 'node:assert/strict'
import { type TestContext, test } from 'node:test'
import { engines, openDatabase } from '../../test/harness.ts'
import { commandLine } from '../base/actor.ts'
import type { Database, Tx } from '../storage/database.ts'
import { queries } from '../storage/timing.ts'
import { changeSettings, contextOf, onBehalfOf } from './rules.ts'
import { lockSettingsAlone, writeSetting } from './store.ts'

/** @returns two processes' views of one new database */
async function openTwice(t: TestContext, engine: string): Promise<readonly [Database, Database]> {
  const fresh = await engines[engine]!()
  t.after(fresh.remove)
  const [one, other] = [await openDatabase(fresh.url), await openDatabase(fresh.url)]
  t.after(async () => {
    await one.close()
    await other.close()
  })
  return [one, other]
}

for (const engine of Object.keys(engines)) {
  test(`settings that a transaction has locked - are those that others, and those before it in its commit, have left (${engine})`, async t => {
    const [database, other] = await openTwice(t, engine)
    const { settings } = contextOf(database)
    const rate = () => database.transaction(async tx => (await settings.lock(tx)).defaultRate)
    const change = (by: Database, default_rate: number) =>
      changeSettings(onBehalfOf(commandLine, by), { default_rate })
    const failing = database.transaction(async (tx: Tx) => {
      await lockSettingsAlone(tx, database.engine)
      await writeSetting(tx, 'default_rate', '77')
      assert.equal((await settings.lock(tx)).defaultRate, 770_000)
      throw new Error('its own failure')
    })
    await assert.rejects(Promise.all([rate(), failing]), /its own failure/)
    assert.deepEqual(await Promise.all([rate(), rate()]), [200_000, 200_000])
    if (engine === 'SQLite') {
      // They run in this order, and share a commit.
      const [before, , after] = await Promise.all([rate(), change(database, 30), rate()])
      assert.deepEqual([before, after], [200_000, 300_000])
    }
    await change(other, 40)
    assert.equal(await rate(), 400_000)
    await change(database, 50)
    assert.equal(await rate(), 500_000)
  })
}

test('settings that a transaction has locked - are read once for all that share a commit (SQLite)', async t => {
  const [database] = await openTwice(t, 'SQLite')
  const { settings } = contextOf(database)
  const lock = () => database.transaction(tx => settings.lock(tx))
  await lock()
  let count = 0
  const counted = () => {
    count += 1
  }
  queries.subscribe(counted)
  await Promise.all(Array.from({ length: 20 }, lock))
  queries.unsubscribe(counted)
  assert.equal(count, 2)
})

import assert from 'node:assert/strict'
import { join } from 'node:path'
import { test } from 'node:test'
import { openDatabase, temporaryFolder } from '../../test/harness.ts'
import { affiliates } from '../programme/affiliates/store.ts'
import { queries } from '../storage/timing.ts'

test('a page in the order of identifiers is one query, and one in another order is one more for its ties', async t => {
  const folder = await temporaryFolder()
  t.after(folder.remove)
  const database = await openDatabase(`sqlite:${join(folder.path, 'a.db')}`)
  t.after(() => database.close())
  const queriesOf = async (order: string) => {
    let count = 0
    const counting = () => {
      count += 1
    }
    queries.subscribe(counting)
    const page = { order: affiliates.orders[order]!, descending: false, offset: 0, limit: 5 }
    await affiliates.page(database.reader, {}, { ...page, after: { value: 1, id: 1 } })
    queries.unsubscribe(counting)
    return count
  }
  assert.deepEqual(
    [await queriesOf('affiliate_id'), await queriesOf('id'), await queriesOf('visits')],
    [1, 1, 2],
  )
})

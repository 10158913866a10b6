/** What another process has sealed while the disk is slow: something else keeps all threads that could flush. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setImmediate } from 'node:timers/promises'
import { pino } from 'pino'
import { engines, openDatabase, operatorOf } from '../../../test/harness.ts'
import { slowDisk } from '../../../test/load.ts'
import { sealEntries } from '../../events/seal.ts'
import { readChain } from '../../events/store.ts'
import { write } from '../../events/write.ts'
import { Anchor } from './anchor.ts'

test('a seal leaves the machine only when it is on the disk (SQLite)', async t => {
  const fresh = await engines.SQLite!()
  const sealing = await openDatabase(fresh.url)
  const delivering = await openDatabase(fresh.url)
  t.after(async () => {
    await delivering.close()
    await sealing.close()
    await fresh.remove()
  })
  const happened: string[] = []
  const place = createServer((request, response) => {
    request.resume()
    happened.push('delivered')
    response.end()
  }).listen(0, '127.0.0.1')
  t.after(() => place.close())
  await once(place, 'listening')
  await write(operatorOf(sealing), async tx => tx.log('user.create', 1))
  const slow = slowDisk()
  const sealed = sealEntries(sealing).then(() => happened.push('sealed'))
  const number = async () => {
    delivering.refresh!()
    return (await readChain(delivering.reader))?.number ?? 0
  }
  while ((await number()) === 0) await setImmediate()
  const { port } = place.address() as AddressInfo
  const anchor = new Anchor(delivering, `http://127.0.0.1:${port}`, pino({ enabled: false }))
  await Promise.all([anchor.close(), slow, sealed])
  assert.equal(happened[0], 'sealed')
})

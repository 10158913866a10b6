/** Seals on their way to an anchor: while the disk is slow, for which something else keeps all threads that could flush; and while the place hangs. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { test } from 'node:test'
import { setImmediate, setTimeout } from 'node:timers/promises'
import { pino } from 'pino'
import { engines, openDatabase, operatorOf } from '../../../test/harness.ts'
import { slowDisk, until } from '../../../test/load.ts'
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

test('an anchor that hangs is not said to be reached again when the service ends', async t => {
  const fresh = await engines.SQLite!()
  const database = await openDatabase(fresh.url)
  t.after(async () => {
    await database.close()
    await fresh.remove()
  })
  let asked = 0
  const place = createServer((_request, response) => {
    asked += 1
    if (asked === 1) response.writeHead(500).end()
  }).listen(0, '127.0.0.1')
  t.after(() => {
    place.closeAllConnections()
    place.close()
  })
  await once(place, 'listening')
  await write(operatorOf(database), async tx => tx.log('user.create', 1))
  await sealEntries(database)
  const { port } = place.address() as AddressInfo
  const messages: string[] = []
  const log = pino({}, { write: line => messages.push(JSON.parse(line).msg) })
  const anchor = new Anchor(database, `http://127.0.0.1:${port}`, log)
  await until(() => asked === 2)
  await anchor.close()
  await setTimeout(100)
  assert.deepEqual(messages, ['seals do not reach the audit anchor; it is tried again'])
})

/** Lists that are longer than memory should be: 200,000 affiliates from a process of its own. */
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { createKey } from '../src/accounts/keys/rules.ts'
import { createUser } from '../src/accounts/users/rules.ts'
import { features, permissions } from '../src/app.ts'
import { fillWithDemo } from '../src/operations/demo/demo.ts'
import { openDatabase, operatorOf, type ServeProcess, serveProcess, temporaryFolder } from './harness.ts'

const AFFILIATES = 200_000
const MAX_GROWTH_KIB = 64 * 1024

/** Resident memory of a process, in KiB. */
function residentKib(pid: number): number {
  const status = `/proc/${pid}/status`
  if (existsSync(status)) return Number(/VmRSS:\s+(\d+)/.exec(readFileSync(status, 'utf8'))![1])
  return Number(execFileSync('ps', ['-o', 'rss=', '-p', String(pid)], { encoding: 'utf8' }))
}

describe(`${AFFILIATES} affiliates`, () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let started: ServeProcess
  before(async () => {
    folder = await temporaryFolder()
    const url = `sqlite:${join(folder.path, 'large.db')}`
    const database = await openDatabase(url)
    await fillWithDemo(database, features, { affiliates: AFFILIATES, payouts: 0 })
    // The demo's accounts are there, so no first administrator would be made.
    const user = await createUser(operatorOf(database), {
      login: 'admin',
      email: 'admin@example.com',
      role: 'administrator',
    })
    const { token } = await createKey(
      operatorOf(database),
      { user_id: user.id, name: 'all', permissions: [...permissions] },
      permissions,
    )
    await database.close()
    started = await serveProcess(['--database', url])
    started.announced.token = token
  })
  after(async () => {
    await started.stop('SIGKILL')
    await folder.remove()
  })

  const ask = (path: string) =>
    fetch(`${started.announced.url}/v1${path}`, {
      headers: { authorization: `Bearer ${started.announced.token}` },
    })

  /** @param path of each round; other ones each time, because an answer is kept while nothing changes */
  async function timedMs(path: (round: number) => string, times = 15): Promise<number> {
    const taken = []
    for (let round = 0; round < times; round += 1) {
      const begun = performance.now()
      await (await ask(path(round))).text()
      taken.push(performance.now() - begun)
    }
    return taken.sort((a, b) => a - b)[Math.floor(times / 2)]!
  }

  test('200 - all of them arrive, while the memory of the server grows by less than 64 MiB', async () => {
    for (let index = 0; index < 50; index += 1) await (await ask('/affiliates?number=100')).text()
    const idle = residentKib(started.child.pid!)
    let peak = 0
    const watch = setInterval(() => {
      peak = Math.max(peak, residentKib(started.child.pid!))
    }, 20)
    const all = (await (await ask('/affiliates?number=-1')).json()) as any[]
    clearInterval(watch)
    assert.equal(all.length, AFFILIATES)
    assert.deepEqual(
      all.map(row => row.id),
      Array.from({ length: AFFILIATES }, (_, index) => index + 1),
    )
    assert.ok(peak - idle < MAX_GROWTH_KIB, `grew by ${Math.round((peak - idle) / 1024)} MiB`)
  })

  test('200 - a client that stops reading, or goes away, costs nothing lasting', async () => {
    const before = residentKib(started.child.pid!)
    const { port } = new URL(started.announced.url)
    const stalled = Array.from({ length: 20 }, () => {
      const client = request({
        port,
        path: '/v1/affiliates?number=-1',
        headers: { authorization: `Bearer ${started.announced.token}` },
      })
      // Nobody reads the answer.
      client.on('response', response => response.pause()).on('error', () => {})
      client.end()
      return client
    })
    await delay(1500)
    assert.equal((await ask('/affiliates/1')).status, 200)
    for (const client of stalled) client.destroy()
    await delay(500)
    const grown = residentKib(started.child.pid!) - before
    assert.ok(grown < MAX_GROWTH_KIB, `grew by ${Math.round(grown / 1024)} MiB`)
    const written = await fetch(`${started.announced.url}/v1/affiliates`, {
      method: 'POST',
      headers: { authorization: `Bearer ${started.announced.token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ create_user: true, payment_email: 'after@example.com' }),
    })
    assert.equal(written.status, 201)
  })

  test('200 - a page by cursor at the end reads no more rows than one at the start', async () => {
    const after = (id: number) => {
      const cursor = Buffer.from(JSON.stringify(['affiliate_id', 'asc', id, id])).toString('base64url')
      return `/affiliates?number=20&cursor=${cursor}`
    }
    const page = (await (await ask(after(AFFILIATES - 100))).json()) as any[]
    assert.equal(page[0].id, AFFILIATES - 99)
    const [first, last, counted] = [
      await timedMs(round => after(round + 1)),
      await timedMs(round => after(AFFILIATES - 99 + round)),
      await timedMs(round => `/affiliates?number=20&offset=${AFFILIATES - 100 + round}`, 5),
    ]
    // Not a benchmark: a cursor that read all rows would be as slow as an offset, which is slower by far.
    assert.ok(last < (first + counted) / 2, `start ${first} ms, end ${last} ms, by offset ${counted} ms`)
  })
})

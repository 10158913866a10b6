/**
 * Work is bounded: what may look at every row keeps no other caller waiting, ends with its client and after its time.
 * PAYOUTS=500000 makes it what it was found with.
 */
import assert from 'node:assert/strict'
import { spawn } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { once } from 'node:events'
import { writeFile } from 'node:fs/promises'
import { request } from 'node:http'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { sql } from 'kysely'
import { createKey } from '../src/accounts/keys/rules.ts'
import { ReadBudget } from '../src/storage/budget.ts'
import { Turns } from '../src/storage/turns.ts'
import { describeService, operatorOf, type Service, startService, temporaryFolder } from './harness.ts'
import { acceptedSockets, until } from './load.ts'
import { addPayouts } from './many-payouts.ts'

const PAYOUTS = Number(process.env.PAYOUTS ?? 8000)
const UNTIL_ENDED_MS = 60_000

async function many(service: Service): Promise<void> {
  const { id } = await service.newAffiliate('many')
  await addPayouts(service.database, { count: PAYOUTS, affiliateId: id, owner: 1 })
}

/** A request of the first key, which may be given up. */
const ask = (service: Service, path: string, signal?: AbortSignal) =>
  fetch(`${service.url}/v1${path}`, {
    headers: { authorization: `Bearer ${service.key.token}` },
    ...(signal && { signal }),
  })

describeService('long lists', service => {
  test('200 - another caller is answered while ten of them are under way', async () => {
    await many(service())
    const permissions = ['payouts.read']
    const args = { user_id: 1, name: 'other', permissions }
    const { token } = await createKey(operatorOf(service().database), args, permissions)
    const seen: number[] = []
    let isOver = false
    const long = Array.from({ length: 10 }, async () => {
      do {
        const rows = await (await ask(service(), '/payouts?number=-1&orderby=amount&search=method')).json()
        seen.push((rows as unknown[]).length)
      } while (!isOver)
    })
    await delay(50)
    for (let id = 1; id <= 10; id += 1) {
      const response = await fetch(`${service().url}/v1/payouts/${id}`, {
        headers: { authorization: `Bearer ${token}` },
      })
      assert.equal(response.status, 200)
    }
    const ended = seen.length
    isOver = true
    await Promise.all(long)
    // Of ten that never cease, whoever waited for them would each time have waited for ten, on any machine.
    assert.ok(ended < 50, `${ended} have ended`)
    assert.deepEqual(new Set(seen), new Set([PAYOUTS]))
  })

  test('429 - one caller has sixteen at once, counted before the first row, and none of those given up', async () => {
    for (let round = 0; round < 3; round += 1) {
      const given = new AbortController()
      const long = Array.from({ length: 17 }, () =>
        ask(service(), '/payouts?number=100000&orderby=amount&search=9', given.signal).then(
          async response => {
            await response.body?.cancel()
            return response.status
          },
          () => 0,
        ),
      )
      await delay(20)
      given.abort()
      const statuses = await Promise.all(long)
      assert.ok(
        statuses.every(status => [0, 200, 429].includes(status)),
        String(statuses),
      )
      for (let attempt = 0; ; attempt += 1) {
        const { status } = await service().get('/payouts?number=2000&fields=ids')
        if (status === 200) break
        assert.ok(attempt < 100, `still refused with ${status}`)
        await delay(50)
      }
    }
  })
})

describeService(
  'reads that take longer than they may',
  service => {
    test('503 - the answer names what to narrow', async () => {
      await many(service())
      const { status, body } = await service().get('/payouts?number=8000&orderby=amount&status=paid')
      assert.equal(status, 503)
      assert.equal(body.code, 'rest_took_too_long')
      assert.match(body.message, /narrow it by [^.]*affiliate_id/)
      assert.doesNotMatch(body.message, /\bstatus\b/)
      assert.equal((await service().get('/payouts/1')).status, 200)
      assert.equal((await service().get('/payouts')).status, 200)
    })
  },
  { readSeconds: 0.003 },
)

test('a caller that takes nothing of its answer is cut off, and one that is slow gets all of it', {
  timeout: 120_000,
}, async t => {
  const service = await startService('SQLite', { readSeconds: 3 })
  t.after(() => service.close())
  const { id } = await service.newAffiliate('stalled')
  await addPayouts(service.database, { count: 250, affiliateId: id, owner: 1 })
  // More than the operating system takes by itself.
  const referrals = Array.from({ length: 10_000 }, (_, index) => 1_000_000 + index).join()
  await service.database.transaction(tx => tx.updateTable('payouts').set({ referrals }).execute())
  const lengthTo = async (path: string, pause: (socket: Socket) => Promise<void>) => {
    const { port, host } = new URL(service.url)
    const socket = connect(Number(port), '127.0.0.1')
    let isBroken = false
    socket.on('error', () => {
      isBroken = true
    })
    const head = `Host: ${host}\r\nAuthorization: Bearer ${service.key.token}\r\nConnection: close\r\n\r\n`
    socket.write(`GET /v1${path} HTTP/1.1\r\n${head}`)
    socket.pause()
    await pause(socket)
    socket.resume()
    await once(socket, 'close')
    return { isWhole: !isBroken && socket.bytesRead > 250 * referrals.length }
  }
  // What the service does with the connection: who takes nothing of an answer does not hear that it has ended.
  const accepted = acceptedSockets(t)
  const nothing = async (socket: Socket) => {
    if (socket.connecting) await once(socket, 'connect')
    while (!accepted.get(socket.localPort)?.destroyed) await delay(50)
  }
  const slowly = async (socket: Socket) => {
    let taken = 0
    socket.on('data', ({ length }) => {
      taken += length
      if (taken < 1_000_000) return
      taken = 0
      socket.pause()
      setTimeout(() => socket.resume(), 400)
    })
  }
  const seen = await Promise.all(
    [nothing, slowly].flatMap(how =>
      ['/payouts?number=-1', '/payouts?number=250'].map(path => lengthTo(path, how)),
    ),
  )
  assert.deepEqual(
    seen.map(({ isWhole }) => isWhole),
    [false, false, true, true],
  )
})

test('a process ends though a query of the embedded engine is under way, and who waits for it hears so', async () => {
  const folder = await temporaryFolder()
  const from = (specifier: string) => JSON.stringify(import.meta.resolve(specifier))
  const program = join(folder.path, 'program.mjs')
  await writeFile(
    program,
    `import { sql } from ${from('kysely')}
    import { schema } from ${from('../src/app.ts')}
    import { openDatabase } from ${from('../src/storage/open.ts')}
    const database = await openDatabase('sqlite:${folder.path}/a.db', schema)
    const { reader } = database.background()
    await sql\`SELECT 1\`.execute(reader)
    setTimeout(() => database.close(), 300)
    await sql\`WITH RECURSIVE n (i) AS (SELECT 1 UNION ALL SELECT i + 1 FROM n) SELECT count(*) FROM n\`
      .execute(reader)
      .catch(() => { process.exitCode = 7 })`,
  )
  const child = spawn(process.execPath, [program], { stdio: 'inherit' })
  const late = setTimeout(() => child.kill('SIGKILL'), UNTIL_ENDED_MS)
  const [code, signal] = await once(child, 'exit')
  clearTimeout(late)
  await folder.remove()
  assert.deepEqual([code, signal], [7, null])
})

test('turns: who has read least comes next, and one place is kept for who has read little', async () => {
  const turns = new Turns(2)
  const order: string[] = []
  const budget = (caller: string) => new ReadBudget(caller, 10_000, new AbortController().signal)
  const read = (caller: string, takesMs: number) =>
    turns.read(budget(caller), async () => {
      order.push(caller)
      await delay(takesMs)
    })
  await read('much', 300)
  const [, second] = [read('much', 50), read('much', 1)]
  await read('little', 1)
  assert.deepEqual(order, ['much', 'much', 'little'])
  await second
  assert.equal(order.length, 4)
})

test('turns: nobody waits for who has gone, or for longer than they may', async () => {
  const turns = new Turns(1)
  const hold = Promise.withResolvers<void>()
  const held = turns.read(undefined, () => hold.promise)
  const gone = new AbortController()
  let asked = false
  const query = async () => {
    asked = true
  }
  const waits = turns.read(new ReadBudget('a', 10_000, gone.signal), query)
  gone.abort()
  await assert.rejects(waits, { reason: 'not wanted' })
  await assert.rejects(turns.read(new ReadBudget('a', 5, new AbortController().signal), query), {
    reason: 'too long',
  })
  hold.resolve()
  await held
  await turns.read(undefined, async () => {})
  assert.equal(asked, false)
})

describeService(
  'places of callers who leave before they are known',
  service => {
    // Their connections are closed while the database says whose key it is: nothing closes any more when they get a place.
    const leave = async (method: string, path: string, callers: number) => {
      const key = await service().newKey(['affiliates.read', 'affiliates.create'])
      const headers = { authorization: `Bearer ${key.token}`, 'content-type': 'application/x-ndjson' }
      let open = 0
      const begin = ({ socket }: { socket: Socket }) => {
        open += 1
        socket.once('close', () => {
          open -= 1
        })
      }
      const onRequest = (message: unknown) => begin(message as { socket: Socket })
      subscribe('http.server.request.start', onRequest)
      await service().database.transaction(async tx => {
        await sql`LOCK TABLE api_keys IN ACCESS EXCLUSIVE MODE`.execute(tx)
        const requests = Array.from({ length: callers }, () => {
          const one = request(`${service().url}/v1${path}`, { method, agent: false, headers })
          one.on('error', () => {})
          if (method === 'GET') one.end()
          else one.write('{}\n')
          return one
        })
        await until(() => open === callers)
        for (const one of requests) one.destroy()
        await until(() => open === 0)
      })
      unsubscribe('http.server.request.start', onRequest)
      return key
    }

    test('200 - long lists are read as before', async () => {
      const key = await leave('GET', '/affiliates?number=0', 16)
      await until(async () => (await service().get('/affiliates?number=0', { key })).status === 200)
    })

    test('200 - many lines are taken as before', async () => {
      const key = await leave('POST', '/affiliates', 4)
      const headers = { 'content-type': 'application/x-ndjson' }
      await until(async () => (await service().post('/affiliates', '{}\n', { key, headers })).status === 200)
    })
  },
  { only: 'PostgreSQL' },
)

/** Callers who take all that they can get: they hold up their own requests only, and nothing of them remains. */
import assert from 'node:assert/strict'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { text } from 'node:stream/consumers'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import {
  describeService,
  hashSlowly,
  type ServeProcess,
  serveProcess,
  startService,
  temporaryFolder,
} from './harness.ts'
import { acceptedSockets, residentMib, until } from './load.ts'
import { addPayouts } from './many-payouts.ts'

/** More requests than the service has in progress at once when they take long. */
const CONNECTIONS = 300
const PAYOUTS = 20_000

describeService(
  'one key with hundreds of long reads',
  service => {
    test('503 for some of them, and an answer for every other caller', async t => {
      const { id } = await service().newAffiliate('much')
      await addPayouts(service().database, { count: PAYOUTS, affiliateId: id, owner: 1 })
      const other = await service().newKey(['affiliates.read', 'payouts.create', 'payouts.read'])
      const admin = await service().admin()
      const attacker: number[] = []
      let hasGone = false
      let asked = PAYOUTS
      const attack = Array.from({ length: CONNECTIONS }, async () => {
        while (!hasGone) {
          asked += 1
          // No two are alike, so that each is work for the database.
          const { status } = await service().get(`/payouts?number=10&orderby=affiliate_name&exclude=${asked}`)
          attacker.push(status)
          // Not all in the same turn: this process also runs the service.
          if (status === 503) await delay(500 + Math.random() * 2000)
        }
      })
      t.after(() => Promise.all(attack))
      await until(() => attacker.includes(503))
      const seen: number[] = []
      for (let number = 0; number < 10; number += 1) {
        const replies = await Promise.all([
          service().get(`/affiliates/${id}`, { key: other }),
          service().post('/payouts', { affiliate_id: id, amount: 1 }, { key: other }),
          service().get('/payouts?number=1&orderby=affiliate_name', { key: other }),
          admin.get(`/affiliates/${id}`),
        ])
        seen.push(...replies.map(({ status }) => status))
        await delay(100)
      }
      hasGone = true
      assert.deepEqual([...new Set(seen)].sort(), [200, 201])
    })
  },
  { only: 'PostgreSQL' },
)

describe('requests that are sent before earlier ones are answered', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let service: ServeProcess
  before(async () => {
    folder = await temporaryFolder()
    const database = `sqlite:${folder.path}/p.db`
    service = await serveProcess(['--demo', '--log-level', 'fatal', '--database', database])
  })
  after(async () => {
    await service.stop('SIGKILL')
    await folder.remove()
  })

  const open = () => {
    const socket = connect(Number(new URL(service.announced.url).port), '127.0.0.1')
    return socket.on('error', () => {})
  }
  const short = 'GET /r/1 HTTP/1.1\r\n\r\n'

  test('a few at once - all are answered, again and again', async () => {
    const socket = open()
    let received = ''
    socket.on('data', chunk => {
      received += chunk
    })
    for (let time = 1; time <= 5; time += 1) {
      socket.write(short.repeat(10))
      await until(() => received.split('HTTP/1.1 ').length - 1 === 10 * time)
    }
    assert.doesNotMatch(received, /connection: close/i)
    socket.destroy()
  })

  test('a hundred at once - sixteen are answered, and the last answer says that the connection ends', async () => {
    const socket = open()
    const received = text(socket)
    socket.write(short.repeat(100))
    const answers = (await received).split('HTTP/1.1 ').slice(1)
    assert.equal(answers.length, 16)
    assert.deepEqual(
      answers.map(answer => /connection: close/i.test(answer)),
      answers.map((_, index) => index === 15),
    )
  })

  test('clients that send nothing else - nobody else waits for them', async t => {
    const block = Buffer.from(short.repeat(10_000))
    let isOver = false
    const sockets = new Set<Socket>()
    const flood = () => {
      if (isOver) return
      const socket = open().resume()
      sockets.add(socket)
      const send = () => {
        while (socket.writable && socket.write(block));
      }
      socket.on('connect', send).on('drain', send)
      socket.on('close', () => {
        sockets.delete(socket)
        setTimeout(flood, 10)
      })
    }
    for (let client = 0; client < 50; client += 1) flood()
    t.after(() => {
      isOver = true
      for (const socket of sockets) socket.destroy()
    })
    await delay(500)
    for (const path of ['/healthz', '/r/1', '/v1/affiliates/1', '/admin/']) {
      const reply = await fetch(`${service.announced.url}${path}`, {
        headers: { authorization: `Bearer ${service.announced.token}`, connection: 'close' },
        signal: AbortSignal.timeout(4000),
      })
      await reply.text()
      assert.ok(reply.status < 500, `${path}: ${reply.status}`)
    }
  })
})

test('a client that never reads its answers is cut off, and one that waits for a slow answer is not', {
  timeout: 60_000,
}, async t => {
  const service = await startService('SQLite', { readSeconds: 1 })
  const sockets: Socket[] = []
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await service.close()
  })
  const { port } = new URL(service.url)
  const accepted = acceptedSockets(t)
  const unread = async (path: string) => {
    const socket = connect(Number(port), '127.0.0.1').pause()
    sockets.push(socket)
    socket.on('error', () => {})
    const head = `Host: x\r\nAuthorization: Bearer ${service.key.token}\r\n\r\n`
    // The answers are more than the buffers of the operating system hold.
    socket.write(`GET ${path} HTTP/1.1\r\n${head}`.repeat(15))
    await once(socket, 'connect')
    await until(() => accepted.get(socket.localPort)?.destroyed === true, 15_000)
  }
  const waiting = async () => {
    const asked = performance.now()
    const socket = connect(Number(port), '127.0.0.1')
    hashSlowly(t, 15)
    const body = JSON.stringify({ login: 'nobody', password: 'long enough' })
    const head = `Host: x\r\nX-Admin-Request: 1\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`
    socket.write(`POST /admin/api/session HTTP/1.1\r\n${head}${body}`)
    const [answer] = await once(socket, 'data')
    socket.destroy()
    return { answer: String(answer), tookMs: performance.now() - asked }
  }
  const page = await (await fetch(`${service.url}/admin/`)).text()
  const [script] = /\/admin\/_built\/[^"]+\.js/.exec(page)!
  const [{ answer, tookMs }] = await Promise.all([waiting(), unread(script), unread('/v1/openapi.json')])
  assert.match(answer, /^HTTP\/1.1 401 /)
  assert.ok(tookMs > 3000, `${tookMs} ms: a connection may be silent for longer`)
})

test('bodies that never end take a bounded part of the memory, whoever sends them, and others are served', async t => {
  const folder = await temporaryFolder()
  const database = `sqlite:${folder.path}/b.db`
  const service = await serveProcess(['--demo', '--log-level', 'fatal', '--database', database])
  const sockets: Socket[] = []
  t.after(async () => {
    for (const socket of sockets) socket.destroy()
    await service.stop('SIGKILL')
    await folder.remove()
  })
  const { url, token } = service.announced
  const length = 1_000_000
  const body = Buffer.alloc(length - 1, '1')
  const before = residentMib(service.child.pid!)
  const answers: string[] = []
  const heads = [
    '/v1/sources/1/deliveries HTTP/1.1',
    '/admin/api/session HTTP/1.1\r\nX-Admin-Request: 1',
    `/v1/affiliates HTTP/1.1\r\nAuthorization: Bearer ${token}`,
    `/v1/nothing HTTP/1.1\r\nAuthorization: Bearer ${token}`,
    '/nothing HTTP/1.1',
  ]
  const sent = heads.flatMap(head =>
    Array.from({ length: 100 }, async () => {
      const socket = connect(Number(new URL(url).port), '127.0.0.1')
      sockets.push(socket)
      socket.on('error', () => {})
      socket.on('data', chunk => answers.push(String(chunk).slice(9, 12)))
      socket.write(`POST ${head}\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\n\r\n`)
      await new Promise(resolve => {
        socket.write(body, resolve)
      })
    }),
  )
  await Promise.all(sent)
  await delay(500)
  const grown = residentMib(service.child.pid!) - before
  assert.ok(grown < 350, `grew by ${grown} MiB`)
  await until(() => answers.includes('429') && answers.includes('404'))
  const small = await fetch(`${url}/v1/payouts`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: '{"affiliate_id":1,"amount":1}',
  })
  assert.equal(small.status, 201)
})

/** The database goes away under load, in every way that it can, and comes back. */
import assert from 'node:assert/strict'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import pg from 'pg'
import { changeSettings } from '../src/settings/rules.ts'
import { FreezableWire } from './freezable.ts'
import { BROWSER, openDatabase, operatorOf, type ServeProcess, serveProcess } from './harness.ts'
import { type Answered, type Load, load, tally, until } from './load.ts'
import { freshDatabase, PostgresServer } from './postgres.ts'

const ANSWER_WITHIN_MS = 2000
const RECOVER_WITHIN_MS = 5000
const OUTAGE_MS = 3000
/** Ten, and what a busy machine adds; while everything was waited for, it was 16 to 18. */
const ENDED_WITHIN_MS = 13_000

describe('outage of PostgreSQL', () => {
  let server: PostgresServer
  let wire: FreezableWire
  let service: ServeProcess
  let databaseUrl: string
  before(async () => {
    server = await PostgresServer.launch()
    databaseUrl = (await freshDatabase(server.url)).url
    wire = await FreezableWire.to(server.port)
    const url = new URL(databaseUrl)
    url.port = String(wire.port)
    service = await serveProcess(['--log-level', 'fatal', '--database', url.href])
  })
  after(async () => {
    const code = await service.stop()
    wire.close()
    await server.remove()
    assert.equal(code, 0)
  })

  const running = (): Load =>
    load(service.announced.token, 16, number =>
      number % 2 === 0
        ? {
            method: 'POST',
            url: `${service.announced.url}/v1/affiliates`,
            body: { create_user: true, payment_email: `${Date.now()}.${number}@example.com` },
          }
        : { method: 'GET', url: `${service.announced.url}/v1/affiliates?number=2&order=desc` },
    )

  async function survive(goAway: () => Promise<void>, comeBack: () => Promise<void>): Promise<string> {
    const clients = running()
    await until(() => clients.answers.length > 200)
    await goAway()
    await delay(OUTAGE_MS)
    const away = clients.answers.length
    await delay(200)
    await comeBack()
    const backAt = Date.now()
    const since = clients.answers.length
    await until(() => clients.answers.slice(since).filter(isAnswered).length > 50, RECOVER_WITHIN_MS)
    const recoveredMs = Date.now() - backAt
    const settled = clients.answers.length
    await until(() => clients.answers.length > settled + 100)
    await clients.stop()

    assert.deepEqual(clients.lost, [])
    const slowestMs = Math.max(...clients.answers.map(answer => answer.durationMs))
    assert.ok(slowestMs < ANSWER_WITHIN_MS, `an answer took ${slowestMs} ms`)
    const refused = clients.answers.filter(answer => answer.status === 503)
    assert.deepEqual(Object.keys(tally(clients.answers)).sort(), ['200', '201', '503'])
    assert.ok(refused.every(answer => answer.retryAfter === '1'))
    assert.ok(clients.answers.slice(away, since).every(answer => answer.status === 503))
    assert.ok(clients.answers.slice(settled + 16).every(isAnswered))
    await allKept(clients.answers)
    return `503s ${refused.length}, slowest answer ${Math.round(slowestMs)} ms, back after ${recoveredMs} ms`
  }

  /** Every create that was answered with 201 is there. */
  async function allKept(answers: readonly Answered[]): Promise<void> {
    const acknowledged = answers
      .filter(answer => answer.status === 201)
      .map(answer => JSON.parse(answer.body).id as number)
    const client = new pg.Client(databaseUrl)
    await client.connect()
    const { rows } = await client.query<{ id: string }>('SELECT id FROM affiliates')
    await client.end()
    const kept = new Set(rows.map(row => Number(row.id)))
    assert.ok(acknowledged.length > 0)
    assert.deepEqual(
      acknowledged.filter(id => !kept.has(id)),
      [],
    )
  }

  test('503 - the server is stopped and started', async context => {
    context.diagnostic(
      await survive(
        () => server.stop(),
        () => server.start(),
      ),
    )
  })

  test('503 - the server is killed and started', async context => {
    context.diagnostic(
      await survive(
        async () => void process.kill(await server.pid(), 'SIGKILL'),
        () => server.start(),
      ),
    )
  })

  test('503 - the network swallows everything, and works again', async context => {
    context.diagnostic(
      await survive(
        async () => wire.freeze(),
        async () => wire.thaw(),
      ),
    )
  })

  test('200 - liveness does not depend on the database, readiness does', async () => {
    const status = async (path: string) => (await fetch(service.announced.url + path)).status
    assert.deepEqual([await status('/healthz'), await status('/readyz')], [200, 200])
    await server.stop()
    assert.deepEqual([await status('/healthz'), await status('/readyz')], [200, 503])
    await server.start()
    await until(async () => (await status('/readyz')) === 200, RECOVER_WITHIN_MS)
  })

  const withProgrammePage = async () => {
    const database = await openDatabase(databaseUrl)
    await changeSettings(operatorOf(database), { programme_page: 'https://shop.example/' })
    await database.close()
  }
  const newAffiliate = async (payment_email: string) => {
    const { url, token } = service.announced
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const body = JSON.stringify({ create_user: true, status: 'active', payment_email })
    const answer = await fetch(`${url}/v1/affiliates`, { method: 'POST', headers, body })
    assert.equal(answer.status, 201)
    return ((await answer.json()) as { id: number }).id
  }
  const visit = async (url: string, path: string) => {
    const answer = await fetch(url + path, { redirect: 'manual', headers: { 'user-agent': BROWSER } })
    return [answer.status, answer.headers.get('location')]
  }

  test('302 - visitors are led to the page, and credited where the link was known; the script is there', async () => {
    await withProgrammePage()
    const id = await newAffiliate('led@example.com')
    const other = await newAffiliate('led.too@example.com')
    const { url } = service.announced
    const credited = async (of = id) => {
      const [status, location] = await visit(url, `/r/${of}`)
      return status === 302 && /^https:\/\/shop\.example\/\?aff_click=/.test(String(location))
    }
    await until(credited)
    assert.ok(await credited(other))
    const unvisited = await serveProcess(['--log-level', 'fatal', '--database', databaseUrl])
    await server.stop()
    assert.deepEqual(await visit(unvisited.announced.url, `/r/${id}`), [302, 'https://shop.example/'])
    assert.equal((await fetch(`${unvisited.announced.url}/a.js`)).status, 200)
    await unvisited.stop()
    // Longer than a link is cached, and one that nobody follows meanwhile.
    for (const since = Date.now(); Date.now() - since < 1500; await delay(100)) assert.ok(await credited())
    assert.ok(await credited(other))
    assert.deepEqual(await visit(url, '/r/nobody'), [302, 'https://shop.example/'])
    assert.deepEqual(await visit(url, '/?ref=nobody'), [302, 'https://shop.example/'])
    assert.equal((await fetch(`${url}/a.js`)).status, 200)
    await server.start()
    const client = new pg.Client(databaseUrl)
    await until(async () => (await fetch(`${url}/readyz`)).status === 200, RECOVER_WITHIN_MS)
    await client.connect()
    const visits = () => client.query('SELECT 1 FROM visits WHERE affiliate_id = $1', [id])
    await until(async () => (await visits()).rows.length >= 2, RECOVER_WITHIN_MS)
    await client.end()
  })

  test('302 - visitors do not wait where somebody keeps everybody from reading; nor does who asks for readiness', async t => {
    await withProgrammePage()
    const known = await newAffiliate('known@example.com')
    const unknown = await newAffiliate('unknown@example.com')
    const { url, token } = service.announced
    const isCredited = (location: unknown) => String(location).includes('?aff_click=')
    await until(async () => isCredited((await visit(url, `/r/${known}`))[1]))
    const holder = new pg.Client(databaseUrl)
    await holder.connect()
    t.after(() => holder.end())
    await holder.query('BEGIN')
    await holder.query('LOCK TABLE affiliates, links, settings IN ACCESS EXCLUSIVE MODE')
    const headers = { authorization: `Bearer ${token}` }
    // More than there are connections.
    const readers = Array.from({ length: 20 }, () => fetch(`${url}/v1/affiliates`, { headers }))
    await delay(700)
    const timed = async <T>(asked: Promise<T>, withinMs: number): Promise<T> => {
      const askedAt = performance.now()
      const answer = await asked
      const tookMs = performance.now() - askedAt
      assert.ok(tookMs < withinMs, `an answer took ${tookMs} ms`)
      return answer
    }
    const visits = [
      ...Array.from({ length: 100 }, () => timed(visit(url, `/r/${known}`), 4000)),
      timed(visit(url, `/r/${unknown}`), 6000),
    ]
    assert.equal((await timed(fetch(`${url}/readyz`), 2000)).status, 200)
    const answers = await Promise.all(visits)
    assert.deepEqual(answers.pop(), [302, 'https://shop.example/'])
    for (const [status, location] of answers) assert.ok(status === 302 && isCredited(location))
    await holder.query('ROLLBACK')
    await Promise.all(readers)
  })

  test('0 - SIGTERM ends it in time while everybody waits for a lock that somebody holds', async t => {
    await withProgrammePage()
    const held = await newAffiliate('held@example.com')
    const visited = await newAffiliate('visited@example.com')
    const ending = await serveProcess(['--log-level', 'fatal', '--database', databaseUrl])
    const { url } = ending.announced
    const headers = {
      authorization: `Bearer ${service.announced.token}`,
      'content-type': 'application/json',
    }
    const follow = async () => assert.equal((await visit(url, `/r/${visited}`))[0], 302)
    await follow()
    const holder = new pg.Client(databaseUrl)
    await holder.connect()
    t.after(() => holder.end())
    await holder.query('BEGIN')
    await holder.query('SELECT 1 FROM affiliates WHERE id = $1 FOR UPDATE', [held])
    const edit = (rate: number) =>
      fetch(`${url}/v1/affiliates/${held}`, {
        method: 'PATCH',
        headers,
        body: JSON.stringify({ rate }),
      }).then(
        ({ status }) => status,
        () => 'cut off',
      )
    const clients = Array.from({ length: 32 }, async (_, client) => {
      const answers = []
      while (answers.at(-1) !== 'cut off') answers.push(await edit(client + answers.length / 100))
      return answers
    })
    await delay(500)
    await follow()
    const signalledAt = performance.now()
    assert.equal(await ending.stop('SIGTERM'), 0)
    const tookMs = performance.now() - signalledAt
    assert.ok(tookMs < ENDED_WITHIN_MS, `it took ${tookMs} ms`)
    const answers = (await Promise.all(clients)).flat()
    const { rows } = await holder.query('SELECT 1 FROM visits WHERE affiliate_id = $1', [visited])
    assert.equal(rows.length, 2)
    assert.ok(answers.every(answer => answer === 503 || answer === 'cut off'))
  })
})

const isAnswered = ({ status }: Answered) => status < 500

/** Visitors by the thousand before the real process: hostile ones, and those who come while it is told to stop. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { Agent, request } from 'node:http'
import { after, before, describe, test } from 'node:test'
import { setTimeout as delay } from 'node:timers/promises'
import { BROWSER, openDatabase, type ServeProcess, serveProcess, temporaryFolder } from './harness.ts'

const HOSTILE = process.env.LONG ? 200_000 : 3000
const MOST_MEMORY = 250 * 1024 * 1024

describe('visitors by the thousand', () => {
  let folder: Awaited<ReturnType<typeof temporaryFolder>>
  let server: ServeProcess
  let database: string
  let affiliate: { id: number }
  const agent = new Agent({ keepAlive: true, maxSockets: 32 })

  before(async () => {
    folder = await temporaryFolder()
    database = `sqlite:${folder.path}/visitors.db`
    server = await serveProcess(['--database', database, '--log-level', 'error'])
    const { url, token } = server.announced
    const answer = await fetch(`${url}/v1/affiliates`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ create_user: true, payment_email: 'a@b.example', status: 'active' }),
    })
    affiliate = (await answer.json()) as { id: number }
    const session = await fetch(`${url}/admin/api/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'x-admin-request': '1' },
      body: JSON.stringify({ login: server.announced.login, password: server.announced.password }),
    })
    const cookie = session.headers.getSetCookie()[0]!.split(';')[0]!
    const set = await fetch(`${url}/admin/api/settings`, {
      method: 'PATCH',
      headers: { 'content-type': 'application/json', 'x-admin-request': '1', cookie },
      body: JSON.stringify({ programme_page: 'https://shop.example/' }),
    })
    assert.equal(set.status, 200)
  })
  after(async () => {
    agent.destroy()
    await server?.stop('SIGKILL')
    await folder?.remove()
  })

  /** @returns the status, 0 where the connection was refused or broken */
  function ask(method: string, path: string, headers: Record<string, string>, body = ''): Promise<number> {
    const { hostname, port } = new URL(server.announced.url)
    return new Promise(resolve => {
      const sent = request({ hostname, port, path, method, headers, agent }, response => {
        response.resume().on('end', () => resolve(response.statusCode!))
      })
      sent.on('error', () => resolve(0)).end(body)
    })
  }

  /** So many at once, one after the other. */
  async function flood(
    count: number,
    one: (number: number) => Promise<unknown>,
    isOver = () => false,
  ): Promise<void> {
    let number = 0
    const send = async () => {
      while (number < count && !isOver()) await one(number++)
    }
    await Promise.all(Array.from({ length: 32 }, send))
  }

  const memory = () =>
    1024 * Number(/VmRSS:\s+(\d+)/.exec(readFileSync(`/proc/${server.child.pid}/status`, 'utf8'))![1])

  test('hostile requests - no answer of 500 or more, and the memory stays bounded', {
    skip: process.platform !== 'linux',
  }, async () => {
    const odd = [
      '%00',
      '%ff',
      '%2e%2e%2f',
      'a%0d%0ab',
      "'; DROP TABLE links",
      '%F0%9F%98%80',
      'x'.repeat(4000),
      '__proto__',
      '-1',
      '9'.repeat(30),
    ]
    const statuses = new Map<number, number>()
    await flood(HOSTILE, async number => {
      const text = odd[number % odd.length]!
      const escaped = text.includes('%') ? text : encodeURIComponent(text)
      const headers = {
        'user-agent': `${BROWSER} ${number % 7 === 0 ? 'y'.repeat(3000) : number}`,
        'x-forwarded-for': `${number % 250}.${(number >> 3) % 250}.${number % 251}.1`,
        referer: `https://x.example/${text.slice(0, 100).replace(/[^\x20-\x7e]/g, '')}`,
        'accept-encoding': `br;q=${number},,;=, ${'a'.repeat(number % 50)}`,
        'if-none-match': `"${number}", W/*`,
      }
      const requests: [string, string, string?][] = [
        ['GET', `/r/${escaped}?to=${escaped}&campaign=${escaped}${number}`],
        ['GET', `/r/${affiliate.id}?to=${escaped}&campaign=${escaped}${number}`],
        ['GET', `/ref/${escaped}${number}`],
        ['GET', `/?ref=${escaped}${number}&ref=&to=//x`],
        ['POST', '/a', `ref=${affiliate.id}&url=${escaped}&referrer=${escaped}&campaign=${escaped}&url=%`],
        ['POST', '/a', `{"ref":${'['.repeat(number % 100)}`],
        ['POST', '/a', 'z'.repeat(9000)],
        ['GET', `/a.js?${escaped}`],
        ['DELETE', `/r/${escaped}`],
        ['HEAD', `/r/${affiliate.id}`],
      ]
      const [method, path, body] = requests[Math.floor(number / odd.length) % requests.length]!
      const status = await ask(method, path, headers, body)
      statuses.set(status, (statuses.get(status) ?? 0) + 1)
    })
    const failed = [...statuses].filter(([status]) => status >= 500 || status === 0)
    assert.deepEqual(failed, [], JSON.stringify([...statuses]))
    assert.ok((statuses.get(302) ?? 0) > HOSTILE / 5)
    assert.ok(memory() < MOST_MEMORY, `${memory()} bytes`)
  })

  test('kill -9 - at most the last batch of visits is lost, and no credit', async () => {
    const { url, token } = server.announced
    const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
    const visits = async (at: string) => {
      const answer = await fetch(`${at}/v1/visits?campaign=killed&count=true&number=1`, { headers })
      return Number(answer.headers.get('x-total-count'))
    }
    const click = async (at: string) => {
      const path = `/r/${affiliate.id}?campaign=killed`
      const answer = await fetch(at + path, { headers: { 'user-agent': BROWSER }, redirect: 'manual' })
      return new URL(answer.headers.get('location')!).searchParams.get('aff_click')!
    }
    await Promise.all(Array.from({ length: 100 }, () => click(url)))
    while ((await visits(url)) < 100) await delay(50)
    const last = await click(url)
    await server.stop('SIGKILL')
    server = await serveProcess(['--database', database, '--log-level', 'error'])
    const again = server.announced.url
    assert.ok([100, 101].includes(await visits(again)))
    const sale = await fetch(`${again}/v1/conversions`, {
      method: 'POST',
      headers,
      body: JSON.stringify({
        kind: 'sale',
        context: 'shop',
        reference: 'killed',
        amount: 10,
        click: { last },
      }),
    })
    const credited = (await sale.json()) as { referrals: { affiliate_id: number }[] }
    assert.equal(sale.status, 201, JSON.stringify(credited))
    assert.equal(credited.referrals[0]?.affiliate_id, affiliate.id)
  })

  test('SIGTERM under load - every visit that was answered is there', async () => {
    let answered = 0
    const ended = new Promise(resolve => server.child.once('exit', resolve))
    const visit = async (number: number) => {
      const status = await ask('GET', `/r/${affiliate.id}?campaign=last`, {
        'user-agent': BROWSER,
        'x-forwarded-for': `10.${number % 250}.${(number >> 8) % 250}.1`,
      })
      if (status !== 302) return
      answered += 1
      if (answered === 1000) server.child.kill('SIGTERM')
    }
    await flood(1_000_000, visit, () => server.child.exitCode !== null)
    assert.equal(await ended, 0)
    const stored = await openDatabase(database)
    const [row] = await stored.reader
      .selectFrom('visits')
      .select(expression => expression.fn.countAll<number>().as('count'))
      .where('campaign', '=', 'last')
      .execute()
    const { visits } = await stored.reader
      .selectFrom('links')
      .select('visits')
      .where('affiliate_id', '=', affiliate.id)
      .executeTakeFirstOrThrow()
    await stored.close()
    assert.ok(answered >= 1000)
    assert.equal(Number(row!.count), answered)
    assert.ok(visits >= answered)
  })
})

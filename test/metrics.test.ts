/** What Prometheus is told, by one process and by several. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { Gauge } from 'prom-client'
import { freePort } from '../src/process/cluster.ts'
import { serveMetrics } from '../src/process/metrics.ts'
import { engines, serveProcess } from './harness.ts'

/** The sum of all samples of a name whose labels have all of these parts. */
function sum(text: string, name: string, ...labels: string[]): number {
  return text
    .split('\n')
    .filter(line => line.startsWith(`${name}{`) || line.startsWith(`${name} `))
    .filter(line => labels.every(label => line.includes(label)))
    .reduce((total, line) => total + Number(line.split(' ').at(-1)), 0)
}

for (const engine of Object.keys(engines)) {
  for (const workers of ['1', '2']) {
    describe(`metrics (${engine}, ${workers} processes)`, () => {
      test('requests, durations, refused keys, database, sessions, event loop', async t => {
        const fresh = await engines[engine]!()
        const port = await freePort('127.0.0.1')
        const service = await serveProcess([
          '--database',
          fresh.url,
          '--workers',
          workers,
          '--metrics-port',
          String(port),
          '--log-level',
          'fatal',
        ])
        t.after(async () => {
          await service.stop()
          await fresh.remove()
        })
        const { url, token } = service.announced
        const ask = (path: string, key: string, init: RequestInit = {}) =>
          fetch(`${url}/v1${path}`, {
            ...init,
            headers: { authorization: `Bearer ${key}`, connection: 'close' },
          })
        for (let number = 0; number < 10; number += 1) await ask('/affiliates/1', token)
        for (let number = 0; number < 3; number += 1) await ask('/affiliates', 'wrong')
        const body = new URLSearchParams({ create_user: '1', payment_email: 'm@example.com' })
        await ask('/affiliates', token, { method: 'POST', body })
        const scraped = await fetch(`http://127.0.0.1:${port}/metrics`)
        assert.equal(scraped.status, 200)
        assert.match(scraped.headers.get('content-type')!, /^text\/plain/)
        assert.equal(scraped.headers.get('x-content-type-options'), 'nosniff')
        const text = await scraped.text()
        assert.equal(
          sum(
            text,
            'affiliated_http_requests_total',
            'method="GET"',
            'route="/v1/affiliates/:affiliate_id"',
            'status="404"',
          ),
          10,
        )
        assert.equal(sum(text, 'affiliated_http_requests_total', 'method="POST"', 'status="201"'), 1)
        assert.equal(sum(text, 'affiliated_http_request_duration_seconds_count'), 14)
        assert.equal(sum(text, 'affiliated_failures_total', 'failure="unauthenticated"'), 3)
        assert.equal(sum(text, 'affiliated_failures_total', 'failure="no_affiliate"'), 10)
        assert.ok(sum(text, 'affiliated_database_query_duration_seconds_count') >= 10)
        assert.ok(sum(text, 'affiliated_database_commits_total') >= 1)
        assert.equal(sum(text, 'affiliated_sessions'), 0)
        assert.match(text, /^nodejs_eventloop_lag_p99_seconds/m)
        assert.equal(/^affiliated_database_connections\{state="free"\}/m.test(text), engine === 'PostgreSQL')
        assert.ok(!text.includes(token) && !text.includes('m@example.com'))
        assert.equal((await fetch(`http://127.0.0.1:${port}/`)).status, 404)
        assert.equal((await fetch(`${url}/metrics`)).status, 404)
      })
    })
  }
}

test('503 - what could not be measured is logged', async t => {
  const fault = new Error('not measured')
  const collect = () => {
    throw fault
  }
  new Gauge({ name: 'broken', help: 'Fails.', collect })
  const logged: unknown[] = []
  const warn = ({ err }: { err: unknown }) => logged.push(err)
  const port = await freePort('127.0.0.1')
  const server = await serveMetrics('127.0.0.1', port, { all: false, log: { warn } })
  t.after(() => server.close())
  assert.equal((await fetch(`http://127.0.0.1:${port}/metrics`)).status, 503)
  assert.deepEqual(logged, [fault])
})

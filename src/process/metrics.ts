/**
 * Prometheus metrics, on a separate port: scraping needs no key and shows no record. With several
 * processes, the primary answers for all. Without the port nothing is measured.
 * See docs/decisions/metrics.md.
 */
import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import type { FastifyInstance } from 'fastify'
import type { Logger } from 'pino'
import { AggregatorRegistry, Counter, collectDefaultMetrics, Gauge, Histogram, register } from 'prom-client'
import { countSessions } from '../accounts/sessions/store.ts'
import { now } from '../base/time.ts'
import { failureOf, isUnwanted } from '../http/problems.ts'
import type { Database } from '../storage/database.ts'
import { commits, queries } from '../storage/timing.ts'
import { listensOn } from './listen.ts'

/** What a path argument must look like, in Fastify's `/affiliates/:affiliate_id(^\d+$)`. */
const PATTERN = /\(\^.*?\$\)/g
const REQUEST_SECONDS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10]
const QUERY_SECONDS = [0.00005, 0.0001, 0.00025, 0.0005, 0.001, 0.0025, 0.01, 0.05, 0.25, 1, 5]

/** Measures this process; called once, before the server listens. */
export function measure(app: FastifyInstance, database: Database): void {
  collectDefaultMetrics()
  measureRequests(app)
  measureDatabase(database)
}

function measureRequests(app: FastifyInstance): void {
  const requests = new Counter({
    name: 'affiliated_http_requests_total',
    help: 'Requests that were answered.',
    labelNames: ['method', 'route', 'status'],
  })
  const duration = new Histogram({
    name: 'affiliated_http_request_duration_seconds',
    help: 'From the arrival of a request to the end of its answer.',
    labelNames: ['method', 'route'],
    buckets: REQUEST_SECONDS,
  })
  const failures = new Counter({
    name: 'affiliated_failures_total',
    help: 'Failed requests by what went wrong; unauthenticated and wrong_login are refused credentials.',
    labelNames: ['failure'],
  })
  app.addHook('onResponse', async (request, reply) => {
    // The route rather than the URL, of which there are infinitely many.
    const route = request.routeOptions.url?.replaceAll(PATTERN, '') ?? 'none'
    const { method } = request
    requests.inc({ method, route, status: reply.statusCode })
    duration.observe({ method, route }, reply.elapsedTime / 1000)
    if (reply.shed) failures.inc({ failure: 'overloaded' })
  })
  app.addHook('onError', async (_request, _reply, error) => {
    if (!isUnwanted(error)) failures.inc({ failure: failureOf(error).failure })
  })
}

function measureDatabase(database: Database): void {
  const duration = new Histogram({
    name: 'affiliated_database_query_duration_seconds',
    help: 'Queries, with the time they waited.',
    buckets: QUERY_SECONDS,
  })
  const committed = new Counter({
    name: 'affiliated_database_commits_total',
    help: 'Commits that are durable; on the embedded database several writes may share one.',
  })
  queries.subscribe(seconds => duration.observe(Number(seconds)))
  commits.subscribe(() => committed.inc())
  new Gauge({
    name: 'affiliated_sessions',
    help: 'Sessions of the administration area that have not ended.',
    aggregator: 'max',
    async collect() {
      this.set(await countSessions(database.reader, now()).catch(() => Number.NaN))
    },
  })
  const { pool } = database
  if (!pool) return
  new Gauge({
    name: 'affiliated_database_connections',
    help: 'Connections to PostgreSQL by state, and requests that wait for one.',
    labelNames: ['state'],
    collect() {
      for (const [state, count] of Object.entries(pool())) this.set({ state }, count)
    },
  })
}

/** @param all whether to aggregate all workers */
export async function serveMetrics(
  host: string,
  port: number,
  { all, log }: { all: boolean; log: Pick<Logger, 'warn'> },
): Promise<Server> {
  const registryOfAll = all ? new AggregatorRegistry() : undefined
  const server = createServer(async (request, response) => {
    response.setHeader('X-Content-Type-Options', 'nosniff')
    if (request.method !== 'GET' || request.url !== '/metrics') return response.writeHead(404).end()
    try {
      const text = await (registryOfAll ? registryOfAll.clusterMetrics() : register.metrics())
      response.writeHead(200, { 'Content-Type': register.contentType }).end(text)
    } catch (error) {
      log.warn({ err: error }, 'the metrics could not be collected')
      response.writeHead(503, { 'Retry-After': '1' }).end()
    }
  })
  server.listen(port, host)
  await listensOn(once(server, 'listening'), host, port, 'metrics-')
  return server
}

/** For a worker: answers the primary when it asks. */
export function reportToPrimary(): void {
  new AggregatorRegistry()
}

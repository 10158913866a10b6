/**
 * How each argument of the lists is answered on a database that is filled: the plan, and how long the request took.
 * Prints the tables of docs/scaling.md.
 *
 *   affiliated demo --affiliates 1000000 --payouts 5000000 --database URL
 *   node bench/explain.ts URL
 */
import { CompiledQuery, type Driver, Kysely } from 'kysely'
import { pino } from 'pino'
import { createKey } from '../src/accounts/keys/rules.ts'
import { buildApp, permissions, schema } from '../src/app.ts'
import { commandLine } from '../src/base/actor.ts'
import { onBehalfOf } from '../src/settings/rules.ts'
import type { Database, Db } from '../src/storage/database.ts'
import { openDatabase } from '../src/storage/open.ts'
import type { Tables } from '../src/storage/tables.ts'

const RUNS = 3
type Listed = 'affiliates' | 'payouts'

const both = (orders: string[]) =>
  orders.flatMap(order => [`orderby=${order}`, `orderby=${order}&order=desc`])
const cases: Record<Listed, string[]> = {
  affiliates: [
    ...both(['id', 'user_id', 'rate', 'rate_type', 'payment_email', 'status', 'earnings']),
    ...both(['unpaid_earnings', 'referrals', 'visits', 'date']),
    'user=1&effective=1',
    'affiliate_id=5,900000',
    'exclude=1,2,3',
    'user_id=5,900000',
    'status=active',
    'status=rejected',
    'status=rejected,inactive',
    'rate_type=flat',
    'payment_email=pay.900000@example.org',
    'date=2025-03-01',
    'updated_since=2026-09-20',
    'search=rosa.novak.900000@example.com',
    'search=nobody-has-this',
    'search=900000',
    'count=1',
    'count=1&status=active',
    'count=1&search=novak',
    'offset=500000',
    'status=active&orderby=earnings&order=desc',
    'status=rejected&orderby=earnings&order=desc',
    'status=rejected&rate_type=flat&orderby=date&order=desc',
    'date[start]=2025-03-01&date[end]=2025-03-31&orderby=earnings',
  ],
  payouts: [
    ...both(['id', 'affiliate_id', 'amount', 'payout_method', 'status', 'date', 'owner', 'referrals']),
    'payout_id=5,4500000',
    'exclude=1,2,3',
    'affiliate_id=5,900000',
    'affiliate_id=1',
    'referrals=9000000,12',
    'amount=27.87',
    'amount[min]=2000',
    'amount=2000&amount_compare=>',
    'amount=27.87&amount_compare=!=',
    'payout_method=paypal',
    'payout_method=nothing',
    'status=failed',
    'owner=1',
    'owner=999999',
    'date=2025-03-01',
    'date[start]=2025-03-01&date[end]=2025-03-31',
    'updated_since=2026-09-20',
    'search=4500000',
    'search=bank',
    'search=nobody-has-this',
    'count=1',
    'count=1&status=paid',
    'count=1&affiliate_id=1',
    'offset=2500000',
    'affiliate_id=1&orderby=date&order=desc',
    'affiliate_id=1,2,3&status=failed&orderby=amount&order=desc',
    'status=failed&orderby=date&order=desc',
    'payout_method=stripe&orderby=amount&order=desc',
    'date[start]=2025-03-01&date[end]=2025-03-31&orderby=amount&order=desc',
    'date[start]=2025-03-01&date[end]=2025-03-31&affiliate_id=1',
  ],
}

const database = await openDatabase(process.argv[2]!, schema)
const queries: CompiledQuery[] = []
const app = await buildApp(
  {
    engine: database.engine,
    schema,
    reader: database.reader,
    replica: recording(database),
    background: budget => database.background(budget),
    snapshot: work => work(recording(database)),
    transaction: work => database.transaction(work),
    ready: () => database.ready(),
    close: () => database.close(),
  },
  {
    bodyLimitBytes: 1_048_576,
    corsOrigins: [],
    rateLimit: 0,
    readSeconds: 20,
    trustProxy: [],
    logger: pino({ level: 'fatal' }),
  },
)
const args = { user_id: 1, name: 'explain', permissions: [...permissions] }
const { token } = await createKey(onBehalfOf(commandLine, database), args, permissions)

for (const [resource, list] of Object.entries(cases)) {
  const url = `/v1/${resource}`
  console.log(`\n### GET ${url} on ${database.engine.name}\n\n| arguments | ms | how |\n| --- | ---: | --- |`)
  for (const query of list) {
    await report(url, query)
    if (query.startsWith('orderby')) await report(url, await farPage(resource as Listed, query), query)
  }
}
await app.close()
await database.close()

/** @param name of a page far into the list */
async function report(url: string, query: string, name?: string): Promise<void> {
  const durations: number[] = []
  for (let run = 0; run < RUNS; run += 1) {
    queries.length = 0
    const startedAt = performance.now()
    await ask(`${url}?${query}`)
    durations.push(performance.now() - startedAt)
  }
  const plans = await Promise.all(queries.map(explain))
  const median = durations.sort((a, b) => a - b)[Math.floor(RUNS / 2)]!
  const shown = name === undefined ? `\`${query}\`` : `\`${name}\`, far into the list`
  console.log(`| ${shown} | ${median.toFixed(1)} | ${plans.join('; ')} |`)
}

async function ask(url: string): Promise<string> {
  const { statusCode, body } = await app.inject({ url, headers: { authorization: `Bearer ${token}` } })
  if (statusCode !== 200) throw new Error(`${url}: ${statusCode} ${body}`)
  return body
}

/** The query of the page behind a row that has a high identifier. */
async function farPage(resource: Listed, query: string): Promise<string> {
  const search = new URLSearchParams(query)
  const orderby = search.get('orderby')!
  const { orders } = await import(`../src/programme/${resource}/store.ts`)
  const last = await database.engine.lastIdentity(database.reader, resource)
  const row = await database.reader
    .selectFrom(resource as 'payouts')
    .selectAll()
    .where('id', '=', Math.floor(last * 0.9))
    .executeTakeFirstOrThrow()
  const place = [orderby, search.get('order') ?? 'asc', orders[orderby].value(row), row.id]
  return `${query}&cursor=${Buffer.from(JSON.stringify(place)).toString('base64url')}`
}

async function explain({ sql, parameters }: CompiledQuery): Promise<string> {
  const isSqlite = database.engine.name === 'SQLite'
  const text = `${isSqlite ? 'EXPLAIN QUERY PLAN' : 'EXPLAIN (COSTS OFF)'} ${sql}`
  const { rows } = await database.reader.executeQuery<Record<string, string>>(
    CompiledQuery.raw(text, [...parameters]),
  )
  const lines = rows.map(row => row[isSqlite ? 'detail' : 'QUERY PLAN']!.replace(/^[ >-]+/, '').trim())
  return lines
    .filter(line => /scan|search|sort|b-tree|index|aggregate|gather/i.test(line) && !/Cond:|Key:/.test(line))
    .join(', ')
}

/** Runs each query as it is, and keeps it. */
function recording({ reader }: Database): Db {
  const connection = {
    executeQuery: async <R>(query: CompiledQuery) => {
      queries.push(query)
      return reader.executeQuery<R>(query as CompiledQuery<R>)
    },
    streamQuery: () => {
      throw new Error('Not supported.')
    },
  }
  const driver = {
    init: async () => {},
    destroy: async () => {},
    acquireConnection: async () => connection,
    releaseConnection: async () => {},
  } as unknown as Driver
  const executor = reader.getExecutor()
  return new Kysely<Tables>({
    dialect: {
      createAdapter: () => executor.adapter,
      createDriver: () => driver,
      createIntrospector: () => reader.introspection,
      createQueryCompiler: () => ({ compileQuery: (node, id) => executor.compileQuery(node, id) }),
    },
  })
}

/**
 * Lists and reports of visits, of few and of many: `node bench/many-visits.ts --visits 10000000`. The time of a request is
 * the median of some, by one caller.
 */
import { parseArgs } from 'node:util'
import { sql } from 'kysely'
import { table } from '../src/cli/command.ts'
import { type Service, startService } from '../test/harness.ts'
import { addPayees } from '../test/many-referrals.ts'
import { medianOf, progress } from './measure.ts'

const { values } = parseArgs({
  options: {
    visits: { type: 'string', default: '1000000' },
    few: { type: 'string', default: '10000' },
    json: { type: 'boolean', default: false },
  },
})
const AFFILIATES = 1000
const CAMPAIGNS = 10
const DAYS = 90
const REQUESTS = 30
const PER_STATEMENT = 500_000

/** Over the last days, in order of time. */
async function fill({ database }: Service, visits: number): Promise<void> {
  progress(`fills a database with ${visits} visits`)
  await addPayees(database, { payees: AFFILIATES, each: 1 })
  const first = Math.floor(Date.now() / 1000) - DAYS * 86_400
  for (let start = 0; start < visits; start += PER_STATEMENT) {
    const end = Math.min(start + PER_STATEMENT, visits)
    await database.transaction(tx =>
      sql`INSERT INTO visits (affiliate_id, referral_id, rest_id, url, url_key, referrer, referrer_key, campaign, context,
            ip, created_at, updated_at, nonce)
          WITH RECURSIVE numbers (n) AS (SELECT ${sql.lit(start)} UNION ALL SELECT n + 1 FROM numbers WHERE n + 1 < ${sql.lit(end)})
          SELECT 1 + n * 7919 % ${sql.lit(AFFILIATES)}, 0, '', 'https://shop.example/' || n, 'https://shop.example/' || n, '', '',
            'c' || n % ${sql.lit(CAMPAIGNS)}, '', '203.0.113.0', ${sql.lit(first)} + n * ${sql.lit(DAYS * 86_400)} / ${sql.lit(visits)}, ${sql.lit(first)}, hex(randomblob(8))
          FROM numbers`.execute(tx),
    )
  }
  await database.transaction(async tx => {
    // Those of the demo are summed up again.
    await sql`DELETE FROM visit_days`.execute(tx)
    await sql`INSERT INTO visit_days (day, affiliate_id, campaign, visits, unique_visits, converted)
      SELECT created_at / 86400, affiliate_id, campaign, count(*), count(*), 0 FROM visits GROUP BY 1, 2, 3`.execute(
      tx,
    )
    await sql`DELETE FROM visit_totals`.execute(tx)
    await sql`INSERT INTO visit_totals (day, campaign, part, visits, unique_visits, converted)
      SELECT day, campaign, 0, sum(visits), sum(unique_visits), 0 FROM visit_days GROUP BY 1, 2`.execute(tx)
    await sql`UPDATE affiliates SET visits = (SELECT sum(visits) FROM visit_days WHERE affiliate_id = affiliates.id)`.execute(
      tx,
    )
  })
}

async function measure(visits: number): Promise<Map<string, number>> {
  const service = await startService()
  try {
    await fill(service, visits)
    const admin = await service.admin()
    const { body } = await service.get(`/visits/${Math.floor(visits / 2)}`)
    const day = body.date.slice(0, 10)
    const list = (path: string) => () => service.get(`/visits${path}`)
    const report = (path: string) => () => admin.get(`/reports/${path}`)
    const requests: Record<string, () => Promise<{ status: number; body: unknown }>> = {
      'get one': list(`/${Math.floor(visits / 2)}`),
      'list of 20': list('?order=desc'),
      'list of 20, of one affiliate': list('?affiliate_id=7&order=desc'),
      'list of 20, of one day': list(`?date=${day}`),
      'list of 20, by date': list('?orderby=date&order=desc'),
      'visits by month': report('conversion-by-month?span=all'),
      'visits of 30 days': report('conversion-by-month?span=30d'),
      'visits of one affiliate': report('conversion-by-month?span=all&affiliate_id=7'),
      'best affiliates': report('best-affiliates?span=all'),
      'best campaigns': report('best-campaigns?span=30d'),
    }
    const medians = new Map<string, number>()
    for (const [name, request] of Object.entries(requests)) {
      const took: number[] = []
      for (let count = 0; count <= REQUESTS; count += 1) {
        const began = performance.now()
        const { status, body } = await request()
        if (status !== 200) throw new Error(`${name}: ${status} ${JSON.stringify(body)}`)
        if (count > 0) took.push(performance.now() - began)
      }
      medians.set(name, medianOf(took))
    }
    return medians
  } finally {
    await service.close()
  }
}

const few = await measure(Number(values.few))
const many = await measure(Number(values.visits))
const rows = [...many].map(([name, ms]) => [
  name,
  few.get(name)!.toFixed(1),
  ms.toFixed(1),
  (ms / few.get(name)!).toFixed(2),
])
if (values.json) process.stdout.write(`${JSON.stringify({ few: [...few], many: [...many] })}\n`)
else
  process.stdout.write(
    `${table(['', `ms at ${values.few}`, `ms at ${values.visits}`, 'times'], rows).join('\n')}\n`,
  )

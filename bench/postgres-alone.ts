/**
 * What `pg` alone reaches: a record by its identifier, as a statement that is prepared once, from as many callers as the
 * HTTP benchmark has, over a pool of the same size. Usage: node bench/postgres-alone.ts URL SECONDS; prints queries per second.
 */
import pg from 'pg'

const CALLERS = 32
const POOL = 10
const ROWS = 1000

const [url, seconds] = process.argv.slice(2)
const pool = new pg.Pool({ connectionString: url, max: POOL })
const text = `SELECT id, user_id, rate, rate_type, payment_email, status, earnings, unpaid_earnings, referrals, visits,
  registered_at FROM affiliates WHERE id = $1`
const began = performance.now()
const endAt = began + Number(seconds) * 1000
let count = 0
await Promise.all(
  Array.from({ length: CALLERS }, async () => {
    while (performance.now() < endAt) {
      count += 1
      await pool.query({ name: 'record', text, values: [(count % ROWS) + 1] })
    }
  }),
)
const perSecond = count / ((performance.now() - began) / 1000)
await pool.end()
process.stdout.write(`${perSecond.toFixed(0)}\n`)

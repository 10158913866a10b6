/**
 * What a request does, as one statement of PostgreSQL, which `pg` alone is measured with. Rows are written as the service
 * wrote them last, column by column, so whatever it writes from now on is written here as well.
 */
import pg from 'pg'
import type { FloorStatement } from './floor.ts'

type Row = Readonly<Record<string, unknown>>
/** Of a table, with other values in some columns, once for each row of what it is made from. */
type Insert = (table: string, sets: Readonly<Record<string, string>>, from?: string) => string

const email = "$1::text || '@floor.example'"
const affiliate = `SELECT id, user_id, rate, rate_type, payment_email, status, earnings, unpaid_earnings, referrals, visits,
  registered_at FROM affiliates`

const balances = (source: string, from: string, to: string) => `
  INSERT INTO balances (affiliate_id, account, amount)
    SELECT affiliate_id, account, sign * amount
    FROM ${source}, (VALUES ('${from}', -1), ('${to}', 1)) moves (account, sign)
    ON CONFLICT (affiliate_id, account) DO UPDATE SET amount = balances.amount + excluded.amount`

/** Each takes the row of a request as $2, and a number that no other has as $1. */
const statements: Readonly<Record<string, (insert: Insert) => string>> = {
  'get one, built anew': () => `${affiliate} WHERE id = $2 AND $1::bigint > 0`,
  'list of 20, built anew': () => `${affiliate} WHERE id <> $1 AND $2::bigint > 0 ORDER BY id LIMIT 21`,
  'create with account': insert => `
    WITH u AS (${insert('users', { login: '$1::text', login_key: '$1::text', email, email_key: email })}),
    a AS (${insert('affiliates', { user_id: 'u.id', payment_email: email, payment_email_key: email }, 'u')}),
    l AS (${insert('links', { affiliate_id: 'a.id', code: 'a.id::text', code_key: 'a.id::text' }, 'a')}),
    e AS (${insert('events', { record_id: 'a.id' }, 'a')})
    SELECT id FROM a WHERE $2::bigint > 0`,
  edit: insert => `
    WITH a AS (UPDATE affiliates SET payment_email = ${email}, payment_email_key = ${email}, updated_at = updated_at + 1
      WHERE id = $2 RETURNING id),
    e AS (${insert('events', { record_id: 'a.id' }, 'a')})
    SELECT id FROM a`,
  'create payout': insert => `
    WITH p AS (${insert('payouts', { referrals: '$1::text' })}),
    n AS (INSERT INTO payout_referrals (referral_id, payout_id, known) SELECT $1::bigint, id, 0 FROM p),
    e AS (${insert('events', { record_id: 'p.id' }, 'p')}),
    t AS (${insert('ledger_transfers', { payout_id: 'p.id', event_id: 'e.id' }, 'p, e')}),
    b AS (${balances('p', 'difference', 'external')}),
    c AS (UPDATE affiliates SET earnings = earnings + amount FROM p WHERE affiliates.id = p.affiliate_id)
    SELECT id FROM p WHERE $2::bigint > 0`,
  'create referral': insert => `
    WITH r AS (${insert('referrals', { affiliate_id: '$2::bigint', reference: '$1::text', reference_key: '$1::text' })}),
    e AS (${insert('events', { record_id: 'r.id' }, 'r')}),
    t AS (${insert('ledger_transfers', { affiliate_id: 'r.affiliate_id', referral_id: 'r.id', event_id: 'e.id' }, 'r, e')}),
    b AS (${balances('r', 'commission', 'unpaid')}),
    c AS (UPDATE affiliates SET unpaid_earnings = unpaid_earnings + amount, referrals = referrals + 1 FROM r
      WHERE affiliates.id = r.affiliate_id)
    SELECT id FROM r`,
}

/** The names of the requests that there are statements for. */
export const stated = Object.keys(statements)

const TABLES = ['users', 'affiliates', 'links', 'events', 'payouts', 'referrals', 'ledger_transfers']

/** Right behind one such request, whose rows are the last. */
export async function statementOf(database: string, request: string): Promise<Pick<FloorStatement, 'text'>> {
  const client = new pg.Client(database)
  await client.connect()
  try {
    const last = new Map<string, Row>()
    for (const table of TABLES) {
      const { rows } = await client.query<Row>(`SELECT * FROM ${table} ORDER BY id DESC LIMIT 1`)
      last.set(table, rows[0]!)
    }
    return {
      text: statements[request]!((table, sets, from) => insertion(table, last.get(table)!, sets, from)),
    }
  } finally {
    await client.end()
  }
}

function insertion(table: string, row: Row, sets: Readonly<Record<string, string>>, from?: string): string {
  const columns = Object.keys(row).filter(column => column !== 'id')
  const values = columns.map(column => sets[column] ?? literal(row[column]))
  return `INSERT INTO ${table} (${columns.join()}) SELECT ${values.join()}${from ? ` FROM ${from}` : ''} RETURNING *`
}

const literal = (value: unknown) => (value === null ? 'NULL' : pg.escapeLiteral(String(value)))

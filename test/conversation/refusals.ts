/** What is refused before there is a request, beyond a limit, or because the database does not answer. */
import { area, type Chapter, plain, v1 } from './ask.ts'

const large = { notes: 'x'.repeat(2000) }

export const limits: Chapter = {
  name: 'limits',
  flags: ['--rate-limit', '3', '--body-limit', '1024'],
  steps: [
    v1('POST /affiliates', { body: large }),
    v1('GET /affiliates'),
    v1('GET /nonsense'),
    v1('GET /affiliates'),
    v1('POST /affiliates', { body: large }),
    ...Array.from({ length: 5 }, () => plain('GET /v1/affiliates')),
    v1('GET /affiliates', { headers: { authorization: 'Bearer affiliated_sk_nonsense' } }),
    { pass: 61 },
    v1('GET /affiliates'),
    plain('GET /v1/affiliates'),
  ],
}

const withKey = 'Host: affiliated.test\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n'
const get = (path: string) => ({ raw: `GET ${path} HTTP/1.1\r\n${withKey}\r\n` })

export const connections: Chapter = {
  name: 'connections',
  flags: [],
  steps: [
    { raw: 'nonsense\r\n\r\n' },
    { raw: 'GET / HTTP/9.9\r\n\r\n' },
    { raw: 'NONSENSE /v1/affiliates HTTP/1.1\r\nHost: affiliated.test\r\n\r\n' },
    { raw: `GET /v1/affiliates HTTP/1.1\r\n${withKey}X-Long: ${'x'.repeat(17_000)}\r\n\r\n` },
    get(`/v1/affiliates?search=${'x'.repeat(17_000)}`),
    get(`/v1/affiliates?search=${'x'.repeat(10_000)}`),
    get('/v1/affiliates?search=\xff'),
    get('/v1/affiliates?search="'),
    get('/v1/aff\xffiliates'),
    get('/v1/%zz?a=%zz'),
    get('http://other.example/v1/affiliates?number=1'),
    get('*'),
    get('//v1/affiliates'),
    get('/v1//affiliates'),
    get('/v1/../v1/affiliates'),
    get('/V1/Affiliates'),
    { raw: 'GET /v1 HTTP/1.0\r\nAuthorization: Bearer {token}\r\n\r\n' },
    { raw: 'GET /v1 HTTP/1.1\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n' },
    { raw: 'GET /v1 HTTP/1.1\r\nHost: a b\r\nAuthorization: Bearer {token}\r\nConnection: close\r\n\r\n' },
    { raw: `GET /v1/affiliates HTTP/1.1\r\n${withKey}Expect: nonsense\r\n\r\n` },
    { raw: `POST /v1/payouts HTTP/1.1\r\n${withKey}Content-Length: x\r\n\r\n{}` },
    {
      raw: `POST /v1/payouts HTTP/1.1\r\n${withKey}Content-Length: 2\r\nTransfer-Encoding: chunked\r\n\r\n{}`,
    },
    { raw: `POST /v1/payouts HTTP/1.1\r\n${withKey}Content-Length: 2\r\n\r\n{}` },
    {
      raw: `POST /v1/payouts HTTP/1.1\r\n${withKey}Idempotency-Key: a\r\nIdempotency-Key: b\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n{}`,
    },
    {
      raw: `POST /v1/payouts HTTP/1.1\r\n${withKey}Content-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n2\r\n{}\r\n0\r\n\r\n`,
    },
    // What never arrives in full is given up.
    { raw: 'GET /v1/affiliates HTTP/1.1\r\nHost: ' },
  ],
}

const COLUMNS =
  'affiliate_id, referrals, amount, payout_method, payout_method_key, status, owner, created_at, updated_at'

/** More log-ins at once than are hashed, and more long lists than one caller may read. */
export const crowd: Chapter = {
  name: 'crowd',
  flags: ['--demo'],
  // What is asked of the engine is the same on both, and takes long.
  engine: 'SQLite',
  steps: [
    plain('POST /admin/api/session', {
      headers: { 'x-admin-request': '1', 'x-forwarded-for': '10.{nth}.0.1' },
      body: { login: 'nobody {nth}', password: 'wrong password' },
      times: 40,
    }),
    {
      sql: `INSERT INTO payouts (${COLUMNS}) SELECT ${COLUMNS} FROM payouts, (SELECT 1 FROM users LIMIT 100)`,
    },
    // More than are allowed, in case that one ends.
    { unread: v1('GET /payouts?number=0', { times: 24 }) },
    v1('GET /payouts?number=0'),
    v1('GET /payouts?number=1'),
  ],
}

export const damage: Chapter = {
  name: 'damage',
  flags: [],
  steps: [
    v1('GET /payouts'),
    { sql: 'ALTER TABLE payouts RENAME TO gone' },
    v1('GET /payouts?number=3'),
    v1('POST /payouts', { body: { affiliate_id: 1 } }),
    v1('GET /affiliates'),
    plain('GET /readyz'),
  ],
}

export const outage: Chapter = {
  name: 'outage',
  flags: [],
  engine: 'PostgreSQL',
  steps: [
    v1('GET /affiliates'),
    { database: 'stop' },
    v1('GET /affiliates'),
    v1('POST /affiliates', { body: { create_user: true, payment_email: 'lost@example.com' } }),
    area('GET /users'),
    plain('GET /readyz'),
    plain('GET /healthz'),
  ],
}

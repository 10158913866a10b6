/** What is measured: one request of each kind. */
import { ROWS, type Target } from './load.ts'
import type { Process } from './processes.ts'

export interface BenchRequest extends Omit<Target, 'url' | 'headers'> {
  readonly name: string
  readonly path: string
  readonly status: number
  /** Of a visitor, who has no key; the path is the whole one. */
  readonly visitor?: true
  /** Sent with a token that no key has. */
  readonly refused?: true
}

const READERS = 32
/** Enough for writes to share commits, and no more than the goals speak of. */
const WRITERS = 64
const PAGE = 20

type WithoutStride = Omit<BenchRequest, 'stride'>

const get = (name: string, path: string): WithoutStride => ({
  name,
  path,
  method: 'GET',
  status: 200,
  connections: READERS,
})

const write = (name: string, method: string, path: string, status: number, body: object): WithoutStride => ({
  name,
  path,
  method,
  status,
  body: JSON.stringify(body),
  connections: WRITERS,
})

/**
 * {row} is one of a thousand records that lie evenly over the whole table, {number} one that no other request has: its answer cannot be one that was kept.
 * @param server the pages are those of its database
 */
export async function requestsTo(server: Process, authorization: string): Promise<BenchRequest[]> {
  const { last, page: lastPage, active, first } = await lastPageOf(server, authorization)
  const stride = Math.floor(last / ROWS)
  const payout = { affiliate_id: 7, amount: 27.87, referrals: '{number}' }
  const referral = (affiliate_id: string) => ({
    affiliate_id,
    amount: 12.5,
    context: 'bench',
    reference: '{number}',
    status: 'unpaid',
  })
  const all: WithoutStride[] = [
    get('get one', '/affiliates/{row}'),
    get('get one, built anew', '/affiliates/{row}?n={number}'),
    get('list of 20, first page', '/affiliates'),
    get('list of 20, built anew', '/affiliates?exclude={number}'),
    get('list of 20, by cursor at the end', lastPage),
    get('list of 20, by cursor, built anew', `${lastPage}&exclude={number}`),
    get('list of 20, by status', '/affiliates?status=active'),
    get('list of 100', '/affiliates?number=100'),
    get('list of 100, built anew', '/affiliates?number=100&exclude={number}'),
    write('create with account', 'POST', '/affiliates', 201, {
      create_user: true,
      payment_email: '{number}@bench.example',
    }),
    write('edit', 'PATCH', '/affiliates/{row}', 200, { payment_email: '{number}@bench.example' }),
    write('create payout', 'POST', '/payouts', 201, payout),
    write('create referral', 'POST', '/referrals', 201, referral('{row}')),
    write('create referral of one affiliate', 'POST', '/referrals', 201, referral('7')),
    write('create visit', 'POST', '/visits', 201, {
      affiliate_id: '{row}',
      url: 'https://shop.example/page',
      campaign: 'bench',
      ip: '203.0.113.7',
    }),
    get('get referral, built anew', `/referrals/${first}?n={number}`),
    get('list of 20 referrals, built anew', '/referrals?exclude={number}'),
    write('report sale', 'POST', '/conversions', 201, {
      kind: 'sale',
      context: 'bench',
      reference: '{number}',
      amount: 119,
      tax: 19,
      affiliate_id: active,
    }),
    { ...get('options', '/affiliates'), method: 'OPTIONS' },
    { ...get('redirect', '/r/7'), status: 302, visitor: true },
    { ...get('script', '/a.js'), visitor: true },
    { ...get('refused key', '/affiliates/7'), status: 401, refused: true },
  ]
  return all.map(request => ({ ...request, stride }))
}

export function named(name: string, of: readonly BenchRequest[]): BenchRequest {
  const found = of.find(request => request.name === name)
  if (!found) throw new Error(`There is no request named ${name}.`)
  return found
}

interface Filling {
  readonly last: number
  readonly page: string
  /** An affiliate who earns. */
  readonly active: number
  /** A referral. */
  readonly first: number
}

/** The last record, and the last page of the list, by the kind of cursor that a client gets who follows the links. */
async function lastPageOf({ url }: Process, authorization: string): Promise<Filling> {
  const ask = async <T>(query: string, list = 'affiliates') => {
    const response = await fetch(`${url}/v1/${list}?${query}`, { headers: { authorization } })
    // Another checkout may be of before there were referrals.
    return (response.ok ? await response.json() : []) as T
  }
  const ids = await ask<number[]>(`number=${2 * PAGE}&order=desc&fields=ids`)
  const before = ids.at(-1)!
  const cursor = Buffer.from(JSON.stringify(['affiliate_id', 'asc', before, before])).toString('base64url')
  const page = await ask<unknown[]>(`cursor=${cursor}`)
  if (page.length !== PAGE) throw new Error(`The last page has ${page.length} records.`)
  const [first] = await ask<number[]>('number=1&fields=ids', 'referrals')
  const [active] = await ask<number[]>('status=active&number=1&fields=ids')
  return { last: ids[0]!, page: `/affiliates?cursor=${cursor}`, active: active!, first: first ?? 0 }
}

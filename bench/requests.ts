/** What is measured: one request of each kind. */
import type { Target } from './load.ts'

export interface BenchRequest extends Omit<Target, 'url' | 'headers'> {
  readonly name: string
  readonly path: string
  readonly status: number
  /** Sent with a token that no key has. */
  readonly refused?: true
}

/** Enough for writes to share commits, and no more than the goals speak of. */
const WRITERS = 64
const READERS = 32

/** {row} is one of the first thousand records, {number} one that no other request has. */
export function requests(lastPage: string): BenchRequest[] {
  const get = (name: string, path: string): BenchRequest => ({
    name,
    path,
    method: 'GET',
    status: 200,
    connections: READERS,
  })
  const write = (name: string, method: string, path: string, status: number, body: object): BenchRequest => ({
    name,
    path,
    method,
    status,
    body: JSON.stringify(body),
    connections: WRITERS,
  })
  return [
    get('get one', '/affiliates/{row}'),
    get('list of 20, first page', '/affiliates'),
    get('list of 20, by cursor at the end', lastPage),
    get('list of 20, by status', '/affiliates?status=active'),
    get('list of 100', '/affiliates?number=100'),
    write('create with account', 'POST', '/affiliates', 201, {
      create_user: true,
      payment_email: '{number}@bench.example',
    }),
    write('edit', 'PATCH', '/affiliates/{row}', 200, { payment_email: '{number}@bench.example' }),
    write('create payout', 'POST', '/payouts', 201, {
      affiliate_id: 7,
      amount: 27.87,
      referrals: '{number}',
    }),
    { ...get('options', '/affiliates'), method: 'OPTIONS' },
    { ...get('refused key', '/affiliates/7'), status: 401, refused: true },
  ]
}

export const named = (name: string, of: readonly BenchRequest[]): BenchRequest => {
  const found = of.find(request => request.name === name)
  if (!found) throw new Error(`There is no request named ${name}.`)
  return found
}

/** Whether what is kept twice agrees, and what is kept once is whole. */

import { foldCase } from '../../base/text.ts'
import { verifyChain } from '../../events/verify.ts'
import type { Database, Db } from '../../storage/database.ts'
import * as store from './store.ts'

const ROWS_AT_ONCE = 1000
/** How many of one kind are named. */
const NAMED = 10

export interface Findings {
  /** What was looked at, and how much of it. */
  readonly checked: Record<string, number>
  /** What is wrong, a sentence each. */
  readonly problems: string[]
}

/**
 * Looks through the whole database, which may be in use meanwhile.
 * @param progress is told what is being looked at
 */
export async function checkDatabase(
  database: Database,
  progress: (step: string) => void = () => {},
): Promise<Findings> {
  const { reader } = database
  progress('files')
  const damaged = (await store.damages(database)).map(text => `The file is damaged: ${text}.`)
  progress('references')
  const orphans = (await store.orphans(reader)).map(
    ({ column, count }) => `${column}: ${count} refer to nothing.`,
  )
  const checked: Record<string, number> = {}
  const problems = [...damaged, ...orphans]
  const looks = { users: folded('users', users), affiliates: folded('affiliates', affiliates), payouts }
  for (const [name, look] of Object.entries(looks)) {
    progress(name)
    const { count, wrong } = await look(reader)
    checked[name] = count
    problems.push(...wrong.slice(0, NAMED))
    if (wrong.length > NAMED) problems.push(`${name}: ${wrong.length - NAMED} more are wrong.`)
  }
  progress('audit log')
  const verdict = await verifyChain(reader)
  checked.audit_entries = verdict.entries
  if (verdict.problem !== undefined) problems.push(`Audit log: ${verdict.problem}`)
  return { checked, problems }
}

type Rows<T extends 'users' | 'affiliates' | 'payouts'> = Awaited<ReturnType<typeof store.rowsAfter<T>>>

interface Look {
  readonly count: number
  readonly wrong: string[]
}

/** Text, and the folded text that it is found by. */
type Pairs = readonly (readonly [text: string, key: string])[]

const users = (
  row: { [name in 'login' | 'email' | 'display_name']: string } & Record<string, unknown>,
): Pairs =>
  (['login', 'email', 'display_name'] as const).map(name => [row[name], row[`${name}_key`] as string])
const affiliates = (row: { payment_email: string; payment_email_key: string }): Pairs => [
  [row.payment_email, row.payment_email_key],
]

function folded<T extends 'users' | 'affiliates'>(table: T, pairs: (row: never) => Pairs) {
  return async (db: Db): Promise<Look> => {
    const wrong: string[] = []
    const count = await eachPage(db, table, async rows => {
      for (const row of rows) {
        const off = pairs(row as never).some(([text, key]) => foldCase(text) !== key)
        if (off) wrong.push(`${table}: ${row.id} is not found by what it is called.`)
      }
    })
    return { count, wrong }
  }
}

async function payouts(db: Db): Promise<Look> {
  const wrong: string[] = []
  const count = await eachPage(db, 'payouts', async rows => {
    for (const { id, problem } of await problemsOfPayouts(db, rows)) {
      // Somebody may have edited it between the look at the payout and the one at its referrals.
      const [again] = await store.rowsAfter(db, 'payouts', id - 1, 1)
      const [still] = again?.id === id ? await problemsOfPayouts(db, [again]) : []
      if (still) wrong.push(`payouts: ${id} ${problem}`)
    }
  })
  return { count, wrong }
}

async function problemsOfPayouts(db: Db, rows: Rows<'payouts'>): Promise<{ id: number; problem: string }[]> {
  const referrals = await store.referralsOf(db, rows[0]!.id, rows.at(-1)!.id)
  const indexed = Map.groupBy(referrals, row => row.payout_id)
  return rows.flatMap(({ id, referrals: text, payout_method, payout_method_key }) => {
    const kept = text === '' ? [] : text.split(',').map(Number)
    const found = (indexed.get(id) ?? []).map(row => row.referral_id)
    const same = kept.sort((a, b) => a - b).join() === found.join()
    return [
      ...(foldCase(payout_method) === payout_method_key
        ? []
        : [{ id, problem: 'is not found by its payout method.' }]),
      ...(same ? [] : [{ id, problem: 'is not found by its referrals.' }]),
    ]
  })
}

async function eachPage<T extends 'users' | 'affiliates' | 'payouts'>(
  db: Db,
  table: T,
  look: (rows: Rows<T>) => Promise<void>,
): Promise<number> {
  let count = 0
  for (let last = 0; ; ) {
    const rows = await store.rowsAfter(db, table, last, ROWS_AT_ONCE)
    if (rows.length === 0) return count
    await look(rows)
    count += rows.length
    last = rows.at(-1)!.id
  }
}

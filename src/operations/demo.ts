/** Sample data up to today, to look at and to measure with; otherwise the same on every run. */

import { sql } from 'kysely'
import { firstAdministrator, insertUsers, type NewUser } from '../accounts/users/store.ts'
import { foldAccents, foldCase } from '../base/text.ts'
import { DAY_SECONDS, dayOf, now } from '../base/time.ts'
import { affiliates as affiliateStore } from '../programme/affiliates/store.ts'
import { payouts as payoutStore, unknownNames } from '../programme/payouts/store.ts'
import type { Feature } from '../records/feature.ts'
import type { Database, Db, Tx } from '../storage/database.ts'
import { insertMany } from '../storage/insert-many.ts'
import { fillProgramme } from './demo-programme.ts'
import { fillReferrals, pick } from './demo-referrals.ts'

const FIRST_NAMES =
  'Ada Ben Chiara Dmitri Elif Farid Grace Hanna Ivo Jana Kenji Lena Mateo Nia Omar Priya Quentin Rosa Sven Tara'.split(
    ' ',
  )
const LAST_NAMES =
  'Abbott Bauer Costa Dubois Eriksen Fischer Garcia Haddad Ito Jansen Kaya Lopez Moreau Novak Okafor Patel Rossi Silva Tanaka Weber'.split(
    ' ',
  )
const STATUSES = [
  'active',
  'active',
  'active',
  'active',
  'active',
  'active',
  'pending',
  'pending',
  'inactive',
  'rejected',
] as const
const METHODS = ['paypal', 'bank transfer', 'stripe', 'store credit', 'manual']
const RATES = [null, null, null, 150_000, 250_000, 75_000, 300_000]
/** How many days the samples go back. */
const DAYS = 1000
/** Rows of one statement, and of one transaction: large enough that neither costs much for each row. */
const ROWS_PER_STATEMENT = 500
const ROWS_PER_TRANSACTION = 5000
/** From this number of rows on, indexes are created at the end. */
const MANY_ROWS = 5000
/** The tables whose number of rows is an option. */
const FILLED = new Set(['users', 'affiliates', 'payouts', 'payout_referrals'])
/** How many samples there are of each other kind of record. */
const SAMPLES = 50

interface Index {
  readonly name: string
  readonly table: string
  readonly definition: string
}

export interface DemoSize {
  readonly affiliates: number
  readonly payouts: number
  /** The last day, in seconds; today when omitted. */
  readonly until?: number
}

/**
 * Fills a database that has no records of these kinds.
 * @param progress called with the number of rows that are done, and of all
 * @returns false when there was data, which is left unchanged
 */
export async function fillWithDemo(
  database: Database,
  features: readonly Feature[],
  { affiliates, payouts, until = now() }: DemoSize = { affiliates: 200, payouts: 600 },
  progress: (done: number, total: number) => void = () => {},
): Promise<boolean> {
  if (!(await isEmpty(database.reader, features))) return false
  const random = randomNumbers(20_240_101)
  const firstDay = (dayOf(until) - DAYS) * DAY_SECONDS
  /** @param part how far into the demo's time, from 0 to 1 */
  const timeAt = (part: number) =>
    firstDay + Math.floor(part * (DAYS - 1)) * DAY_SECONDS + Math.floor(random() * DAY_SECONDS)
  const ids: number[] = []
  let referral = 1
  await withoutIndexes(database, affiliates + payouts, () => fill())
  if (ids.length === 0) return true
  await fillReferrals(database, ids, { after: referral - 1, random, timeAt })
  await fillProgramme(database, ids, random, until)
  // Last, for they may be about any of the others.
  for (const feature of features.filter(({ sampled }) => sampled)) {
    await fillWithSamples(database, feature, random, timeAt)
  }
  return true

  async function fill(): Promise<void> {
    const total = affiliates + payouts
    let owner = await firstAdministrator(database.reader)
    await inTransactions(database, affiliates, async (tx, numbers) => {
      const users = await insertUsers(
        tx,
        numbers.map(number => demoUser(number, timeAt(number / affiliates), random)),
      )
      const rows = users.map((user, index) =>
        demoAffiliate(user, numbers[index]!, timeAt(numbers[index]! / affiliates), random),
      )
      ids.push(...(await affiliateStore.insertMany(tx, rows)))
      owner ??= users[0]!
      progress(ids.length, total)
    })
    await inTransactions(database, payouts, async (tx, numbers) => {
      const rows = numbers.map(number => {
        const count = 1 + Math.floor(random() * 4)
        const referrals = Array.from({ length: count }, (_, index) => referral + index).join(',')
        referral += count
        // To an affiliate that is registered by then.
        const affiliate = ids[Math.floor(random() ** 2 * Math.ceil((number / payouts) * ids.length))]!
        return demoPayout(affiliate, owner!, referrals, timeAt(number / payouts), random)
      })
      await payoutStore.insertMany(tx, rows, rows.map(unknownNames))
      progress(affiliates + numbers.at(-1)!, total)
    })
  }
}

/**
 * Creates the indexes of filled tables after their rows: sorting at the end is much faster than finding the place of
 * each row in each index. A process that is killed meanwhile leaves a database without indexes, which `check` reports.
 */
async function withoutIndexes(database: Database, rows: number, work: () => Promise<void>): Promise<void> {
  if (rows < MANY_ROWS) return work()
  const { rows: allIndexes } = await sql<Index>`${sql.raw(database.engine.indexes)}`.execute(database.reader)
  const indexes = allIndexes.filter(({ table }) => FILLED.has(table))
  const change = (...statements: string[]) =>
    database.transaction(async tx => {
      for (const statement of [...database.engine.lockSchema, ...statements]) {
        await sql.raw(statement).execute(tx)
      }
    })
  await change(...indexes.map(({ name }) => `DROP INDEX ${name}`))
  try {
    await work()
  } finally {
    for (const { definition } of indexes) await change(definition)
  }
}

async function isEmpty(db: Db, features: readonly Feature[]): Promise<boolean> {
  for (const { kind } of features) if ((await someIds(db, kind.table.name, 1)).length > 0) return false
  return true
}

async function someIds(db: Db, table: string, limit: number): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`SELECT id FROM ${sql.table(table)} LIMIT ${limit}`.execute(db)
  return rows.map(row => row.id)
}

/** Fills a kind of record with samples that its fields generate. */
async function fillWithSamples(
  database: Database,
  { kind }: Feature,
  random: () => number,
  timeAt: (part: number) => number,
): Promise<void> {
  const ids = new Map<string, number[]>()
  for (const { references } of Object.values(kind.table.columns)) {
    if (references) ids.set(references.table, await someIds(database.reader, references.table, SAMPLES))
  }
  const rows = Array.from({ length: SAMPLES }, (_, number) =>
    kind.sample({ random, row: table => pick(ids.get(table)!, random), time: timeAt(number / SAMPLES) }),
  )
  await database.transaction(tx => insertMany(tx, { table: kind.table.name }, rows))
}

/** @param work called with the numbers of the rows of one statement */
async function inTransactions(
  database: Database,
  total: number,
  work: (tx: Tx, numbers: number[]) => Promise<void>,
): Promise<void> {
  for (let done = 0; done < total; done += ROWS_PER_TRANSACTION) {
    const end = Math.min(total, done + ROWS_PER_TRANSACTION)
    await database.transaction(async tx => {
      for (let start = done; start < end; start += ROWS_PER_STATEMENT) {
        const length = Math.min(ROWS_PER_STATEMENT, end - start)
        await work(
          tx,
          Array.from({ length }, (_, index) => start + index + 1),
        )
      }
    })
  }
}

function demoUser(number: number, time: number, random: () => number): NewUser {
  const first_name = pick(FIRST_NAMES, random)
  const last_name = pick(LAST_NAMES, random)
  const login = `${first_name}.${last_name}.${number}`.toLowerCase()
  const email = `${login}@example.com`
  const display_name = `${first_name} ${last_name}`
  return {
    login,
    login_key: foldCase(login),
    email,
    email_key: foldCase(email),
    first_name,
    last_name,
    display_name,
    display_name_key: foldAccents(display_name),
    role: '',
    password_hash: '',
    registered_at: time,
    updated_at: time,
  }
}

function demoAffiliate(user_id: number, number: number, time: number, random: () => number) {
  const rate = pick(RATES, random)
  const payment_email = random() < 0.4 ? `pay.${number}@example.org` : ''
  return {
    user_id,
    rate,
    rate_type: rate === null ? null : random() < 0.8 ? 'percentage' : 'flat',
    payment_email,
    payment_email_key: foldCase(payment_email),
    status: pick(STATUSES, random),
    earnings: 0,
    unpaid_earnings: 0,
    referrals: 0,
    visits: 0,
    notes: '',
    registered_at: time,
    updated_at: time,
  }
}

function demoPayout(
  affiliate_id: number,
  owner: number,
  referrals: string,
  time: number,
  random: () => number,
) {
  const method = pick(METHODS, random)
  return {
    affiliate_id,
    referrals,
    amount: 500 + Math.floor(random() ** 3 * 200_000),
    payout_method: method,
    run_item_id: 0,
    payout_method_key: foldAccents(method),
    reference: '',
    note: '',
    status: random() < 0.07 ? ('failed' as const) : ('paid' as const),
    owner,
    created_at: time,
    updated_at: time,
  }
}

/** Numbers from 0 to 1 that look random and are the same for the same seed (mulberry32). */
function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

/** Sample data up to today, to look at and to measure with; otherwise the same on every run. */

import { sql } from 'kysely'
import { firstAdministrator } from '../../accounts/users/store.ts'
import { DAY_SECONDS, dayOf, now } from '../../base/time.ts'
import { whileUncounted } from '../../events/counts.ts'
import type { Feature } from '../../records/feature.ts'
import type { Addition, Database, Db, Tx } from '../../storage/database.ts'
import { insertMany } from '../../storage/insert-many.ts'
import type { Tables } from '../../storage/tables.ts'
import { fillHistory } from './history.ts'
import { PaidElsewhere } from './payouts.ts'
import { addPeople } from './people.ts'
import { type Chance, pick, randomNumbers } from './random.ts'
import { addRuns } from './runs.ts'
import { fillShop } from './shop.ts'

/** How many days the samples go back. */
const DAYS = 1000
/** Which part of the payouts is for referrals of another system, as before a move to this one. */
const ELSEWHERE = 0.25
/** However large the demo is: the most payouts of referrals that are there. */
const MOST_PAYING = 1500
/** One of so many payouts is made by a payout run. */
const PAYOUTS_PER_OF_RUN = 50
const MOST_OF_RUN = 10
/** Rows of one statement, and of one transaction: large enough that neither costs much for each row. */
const ROWS_PER_STATEMENT = 500
const ROWS_PER_TRANSACTION = 5000
/** From this number of rows on, indexes and foreign keys are made at the end. */
const MANY_ROWS = 5000
/** The tables whose number of rows is an option. */
const FILLED: ReadonlySet<string> = new Set<keyof Tables>([
  'users',
  'affiliates',
  'links',
  'payouts',
  'payout_referrals',
  'ledger_transfers',
])
/** How many samples there are of each kind of record that has none of its own. */
const SAMPLES = 12

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
  await whileUncounted(database, () => fill(database, features, { affiliates, payouts, until }, progress))
  return true
}

async function fill(
  database: Database,
  features: readonly Feature[],
  { affiliates, payouts, until }: Required<DemoSize>,
  progress: (done: number, total: number) => void,
): Promise<void> {
  const random = randomNumbers(20_240_101)
  const firstDay = (dayOf(until) - DAYS) * DAY_SECONDS
  const timeAt = (part: number) =>
    firstDay + Math.floor(part * (DAYS - 1)) * DAY_SECONDS + Math.floor(random() * DAY_SECONDS)
  // Sales of the first payouts are earlier, and what happens today is after the last whole day.
  const partAt = (time: number) => Math.min(1, Math.max(0, (time - firstDay) / (DAYS * DAY_SECONDS)))
  const chance = { random, timeAt, partAt }
  const earners: number[] = []
  let owner = await firstAdministrator(database.reader)
  const elsewhere = Math.max(Math.round(payouts * ELSEWHERE), payouts - MOST_PAYING)
  const after = await withoutAdditions(database, affiliates + payouts, async () => {
    await inTransactions(database, affiliates, async (tx, part) => {
      const made = await addPeople(tx, part, affiliates, chance)
      earners.push(...made.earners)
      owner ??= made.users[0]!
      progress(part.at(-1)!, affiliates + payouts)
    })
    const paid = new PaidElsewhere({ earners, owner: owner ?? 0, total: payouts }, chance)
    await inTransactions(database, elsewhere, async (tx, part) => {
      await paid.add(tx, part)
      progress(affiliates + part.at(-1)!, affiliates + payouts)
    })
    await paid.post(database)
    return paid.last
  })
  if (earners.length === 0) return
  const ofRun = Math.min(MOST_OF_RUN, Math.floor(payouts / PAYOUTS_PER_OF_RUN), earners.length)
  const numbers = Array.from({ length: payouts - elsewhere - ofRun }, (_, index) => elsewhere + index + 1)
  const founders = earners.slice(0, ofRun)
  const making = { numbers, founders, earners, owner: owner!, total: payouts, after, until }
  await fillHistory(database, making, chance)
  await fillShop(database, earners, random, until)
  if (ofRun > 0) await addRuns(database, making)
  progress(affiliates + payouts, affiliates + payouts)
  // Last, for they may be about any of the others.
  for (const feature of features.filter(({ sampled }) => sampled)) {
    await fillWithSamples(database, feature, chance)
  }
}

/**
 * Makes the indexes and foreign keys of filled tables after their rows: sorting at the end is much faster than finding the
 * place of each row in each index. A process that is killed meanwhile leaves a database without them, which `check` reports.
 */
async function withoutAdditions<T>(database: Database, rows: number, work: () => Promise<T>): Promise<T> {
  if (rows < MANY_ROWS) return work()
  const { rows: all } = await sql<Addition>`${sql.raw(database.engine.additions)}`.execute(database.reader)
  const additions = all.filter(({ table }) => FILLED.has(table))
  const change = (...statements: string[]) =>
    database.transaction(async tx => {
      for (const statement of [...database.engine.lockSchema, ...statements]) {
        await sql.raw(statement).execute(tx)
      }
    })
  await change(...additions.map(({ removed }) => removed))
  try {
    return await work()
  } finally {
    for (const { made } of additions) await change(made)
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
  { random, timeAt }: Chance,
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

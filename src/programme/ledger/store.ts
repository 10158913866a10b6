/** Every query on transfers and balances. Nothing else writes them, and nothing ever changes a transfer. */
import { type Expression, type Insertable, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import type { Db, Tx } from '../../storage/database.ts'
import { insertManyUnawaited } from '../../storage/insert-many.ts'
import { countOf, type Order, type Page, PagedList, type Span } from '../../storage/page.ts'
import { prepared } from '../../storage/prepared.ts'
import { exactSum, unitsOfSum } from '../../storage/sums.ts'
import { correcting } from './because.ts'
import { type Account, owedAccounts } from './holdings.ts'
import type { BalancesTable, LedgerTransfersTable } from './table.ts'

/** Below this, one prepared statement for each row is faster. */
const BULK_FROM = 8
const ADDING = 'ON CONFLICT (affiliate_id, account) DO UPDATE SET amount = balances.amount + excluded.amount'

const insertion = prepared((tx: Db, rows: Insertable<LedgerTransfersTable>[]) =>
  tx.insertInto('ledger_transfers').values(rows),
)

export async function insertTransfers(tx: Tx, rows: Insertable<LedgerTransfersTable>[]): Promise<void> {
  if (rows.length < BULK_FROM) await insertion.later(tx, rows)
  else await insertManyUnawaited(tx, { table: 'ledger_transfers' }, rows)
}

const addition = prepared((tx: Db, rows: Insertable<BalancesTable>[]) =>
  tx
    .insertInto('balances')
    .values(rows)
    .onConflict(conflict =>
      conflict
        .columns(['affiliate_id', 'account'])
        .doUpdateSet({ amount: sql<number>`balances.amount + excluded.amount` }),
    ),
)

/**
 * @param rows in order of affiliate and account, so that transactions which add at the same time do not deadlock
 * @param refuse throws the failure for a balance that is out of bounds
 */
export async function addToBalances(
  tx: Tx,
  rows: Insertable<BalancesTable>[],
  refuse: (error: unknown) => never,
): Promise<void> {
  if (rows.length < BULK_FROM) return addition.later(tx, rows, refuse)
  await insertManyUnawaited(tx, { table: 'balances', ending: ADDING }, rows, refuse)
}

const ofAffiliate = (db: Db, { affiliateId }: { affiliateId: number }) =>
  db
    .selectFrom('balances')
    .select(['account', sql<string>`cast(amount as text)`.as('amount')])
    .where('affiliate_id', '=', affiliateId)
const balances = prepared(ofAffiliate)
const locking = prepared((db: Db, args: { affiliateId: number }) => ofAffiliate(db, args).forUpdate())

type Posted = Map<Account, bigint>

const postedIn = (rows: readonly { readonly account: Account; readonly amount: string }[]): Posted =>
  new Map(rows.map(({ account, amount }) => [account, BigInt(amount)]))

/** Accounts without any transfer are left out. */
export async function balancesOf(db: Db, affiliateId: number): Promise<Posted> {
  return postedIn(await balances(db, { affiliateId }))
}

/** The same, locked against changes until the transaction ends. */
export async function lockBalancesOf(db: Db, affiliateId: number): Promise<Posted> {
  return postedIn(await locking(db, { affiliateId }))
}

const sums = prepared((db: Db, { affiliateId, last }: { affiliateId: number; last: number }) =>
  db
    .selectFrom('ledger_transfers')
    .select(['debit', 'credit', exactSum(sql.ref('amount')).as('sum')])
    .where('affiliate_id', '=', affiliateId)
    .where('at', '<=', last)
    .groupBy(['debit', 'credit']),
)

/** What the balances were at the end of a second. */
export async function balancesAt(db: Db, affiliateId: number, last: number): Promise<Map<Account, bigint>> {
  const totals = new Map<Account, bigint>()
  for (const { debit, credit, sum } of await sums(db, { affiliateId, last })) {
    const amount = unitsOfSum(sum)
    totals.set(debit, (totals.get(debit) ?? 0n) - amount)
    totals.set(credit, (totals.get(credit) ?? 0n) + amount)
  }
  return totals
}

/** With the payout run whose item it is about. */
export type Transfer = Selectable<LedgerTransfersTable> & { readonly payout_run_id: number | null }

const runOfItem = sql<number | null>`(SELECT run_items.run_id FROM run_items
  WHERE run_items.id = ledger_transfers.run_item_id)`.as('payout_run_id')

/** The filters of a ledger, as they are stored. Several values of one filter mean any of them. */
export interface Criteria {
  readonly affiliateId: number
  readonly accounts?: readonly Account[]
  readonly reasons?: readonly string[]
  readonly referralIds?: readonly number[]
  readonly payoutIds?: readonly number[]
  readonly at?: Span
}

const id = sql.ref('ledger_transfers.id')
const byId: Order = { expression: id, kind: 'number', value: (row: Transfer) => row.id }

/** By the names that callers use. Transfers are only added, so the order of identifiers is that of time. */
export const orders: Record<string, Order> = { transfer_id: byId, date: byId }

const list = new PagedList(
  (db, criteria: Criteria) =>
    db.selectFrom('ledger_transfers').selectAll().select(runOfItem).where(matching(criteria)),
  byId,
)

export async function listTransfers(db: Db, criteria: Criteria, page: Page): Promise<Transfer[]> {
  return list.read(db, criteria, page)
}

export async function countTransfers(db: Db, criteria: Criteria): Promise<number> {
  return countOf(db.selectFrom('ledger_transfers').where(matching(criteria)))
}

const column = (name: string) => sql.ref(`ledger_transfers.${name}`)

/** The condition that a row meets all criteria. */
function matching({
  affiliateId,
  accounts,
  reasons,
  referralIds,
  payoutIds,
  at,
}: Criteria): Expression<SqlBool> {
  const conditions: RawBuilder<unknown>[] = [sql`${column('affiliate_id')} = ${affiliateId}`]
  const isIn = (name: string, values: readonly unknown[]) => sql`${column(name)} IN (${sql.join(values)})`
  if (accounts) conditions.push(sql`(${isIn('debit', accounts)} OR ${isIn('credit', accounts)})`)
  if (reasons) conditions.push(isIn('reason', reasons))
  if (referralIds) conditions.push(isIn('referral_id', referralIds))
  if (payoutIds) conditions.push(isIn('payout_id', payoutIds))
  if (at?.first !== undefined) conditions.push(sql`${column('at')} >= ${at.first}`)
  if (at?.last !== undefined) conditions.push(sql`${column('at')} <= ${at.last}`)
  return sql<SqlBool>`${sql.join(conditions, sql` AND `)}`
}

interface Part {
  /** The identifier behind which it begins. */
  readonly after: number
  readonly limit: number
  readonly affiliateId?: number | undefined
  readonly first?: number | undefined
  readonly last?: number | undefined
}

const journal = prepared((db: Db, { after, limit, affiliateId, first, last }: Part) =>
  db
    .selectFrom('ledger_transfers')
    .leftJoin('referrals', 'referrals.id', 'ledger_transfers.referral_id')
    .leftJoin('payouts', 'payouts.id', 'ledger_transfers.payout_id')
    .selectAll('ledger_transfers')
    .select(runOfItem)
    .select(({ fn }) => [
      fn.coalesce('referrals.created_at', 'payouts.created_at').as('record_at'),
      fn.coalesce('referrals.reference', 'payouts.reference').as('reference'),
    ])
    .where('ledger_transfers.id', '>', after)
    .$if(affiliateId !== undefined, query => query.where('ledger_transfers.affiliate_id', '=', affiliateId!))
    .$if(first !== undefined, query => query.where('at', '>=', first!))
    .$if(last !== undefined, query => query.where('at', '<=', last!))
    .orderBy('ledger_transfers.id')
    .limit(limit),
)

/** A transfer, with the date and reference of the referral or payout behind it, while that exists. */
export type Entry = Transfer & { readonly record_at: number | null; readonly reference: string | null }

/** The next transfers in their order, of all affiliates or of one. */
export async function nextTransfers(db: Db, part: Part): Promise<Entry[]> {
  return journal(db, part)
}

/** A transfer of a referral that follows from no report: a person, an exchange rate or a rule has moved it. */
export type Correction = Pick<Transfer, 'reason' | 'debit' | 'credit' | 'amount' | 'at'> & {
  readonly referral_id: number
}

const MOST_CORRECTIONS = 500

const corrections = prepared((db: Db, { ids }: { ids: readonly number[] }) =>
  db
    .selectFrom('ledger_transfers')
    .select(['reason', 'debit', 'credit', 'amount', 'at'])
    .select(sql<number>`referral_id`.as('referral_id'))
    .where('referral_id', 'in', ids)
    .where('reason', 'in', correcting)
    .orderBy('id')
    .limit(MOST_CORRECTIONS),
)

export async function correctionsOf(db: Db, ids: readonly number[]): Promise<Correction[]> {
  return ids.length === 0 ? [] : corrections(db, { ids })
}

/** What a transfer adds to what the affiliate is owed. */
export const owing = (() => {
  const part = (side: string) =>
    sql`CASE WHEN ${sql.ref(side)} IN (${sql.join(owedAccounts.map(account => sql.lit(account)))}) THEN amount ELSE 0 END`
  return sql`(${part('credit')} - ${part('debit')})`
})()

interface Range {
  readonly affiliateId: number
  /** Of identifiers; what follows it, up to `last`. */
  readonly after: number
  readonly last: number
}

const owedSum = prepared((db: Db, { affiliateId, after, last }: Range) =>
  db
    .selectFrom('ledger_transfers')
    .select(sql<string>`cast(coalesce(sum(${owing}), 0) as text)`.as('sum'))
    .where('affiliate_id', '=', affiliateId)
    .where('id', '>', after)
    .where('id', '<=', last),
)

/** What the transfers of a range add to what the affiliate is owed. */
export async function owedIn(db: Db, range: Range): Promise<bigint> {
  return BigInt((await owedSum(db, range))[0]!.sum)
}

const running = prepared(
  (db: Db, { ids, range: { affiliateId, after, last } }: { ids: readonly number[]; range: Range }) =>
    db
      .selectFrom(
        db
          .selectFrom('ledger_transfers')
          .select(['id', sql<string>`cast(sum(${owing}) OVER (ORDER BY id) as text)`.as('total')])
          .where('affiliate_id', '=', affiliateId)
          .where('id', '>', after)
          .where('id', '<=', last)
          .as('totals'),
      )
      .select(['id', 'total'])
      .where('id', 'in', ids),
)

/** What the transfers of a range up to each of these add to what the affiliate is owed. */
export async function owedUpTo(db: Db, ids: readonly number[], range: Range): Promise<Map<number, bigint>> {
  const rows = await running(db, { ids, range })
  return new Map(rows.map(({ id, total }) => [id, BigInt(total)]))
}

const anyPosted = prepared((db: Db, { affiliateId }: { affiliateId: number }) =>
  db.selectFrom('balances').select('account').where('affiliate_id', '=', affiliateId).limit(1),
)

/** Whether anything was ever posted for an affiliate. */
export async function isPosted(db: Db, affiliateId: number): Promise<boolean> {
  return (await anyPosted(db, { affiliateId })).length > 0
}

/** Balances other than 0 of deleted affiliates: of so many affiliates, in order. */
export async function balancesOfDeleted(
  db: Db,
  accounts: readonly Account[],
  limit: number,
): Promise<{ affiliate_id: number; account: Account; amount: string }[]> {
  return db
    .selectFrom('balances')
    .select(['affiliate_id', 'account', sql<string>`cast(amount as text)`.as('amount')])
    .where('account', 'in', accounts)
    .where('amount', '!=', 0)
    .where(({ not, exists, selectFrom }) =>
      not(exists(selectFrom('affiliates').select('id').whereRef('id', '=', 'balances.affiliate_id'))),
    )
    .orderBy('affiliate_id')
    .limit(limit)
    .execute()
}

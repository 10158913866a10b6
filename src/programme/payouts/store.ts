/** Every query on payouts. */
import {
  type AliasedRawBuilder,
  type Expression,
  type ExpressionBuilder,
  type Insertable,
  type Selectable,
  type SqlBool,
  sql,
  type Updateable,
} from 'kysely'
import type { Search } from '../../base/text.ts'
import { byIdentifier } from '../../storage/by-identifier.ts'
import type { Db, Tx } from '../../storage/database.ts'
import {
  anyShort,
  countOf,
  idsInOrder,
  type Order,
  type Page,
  PagedList,
  type Span,
} from '../../storage/page.ts'
import { prepared } from '../../storage/prepared.ts'
import { exactSum } from '../../storage/sums.ts'
import type { PayoutsTable, Tables } from '../../storage/tables.ts'

export type Payout = Selectable<PayoutsTable>

type Comparison = '=' | '!=' | '<' | '<=' | '>' | '>='

/** What a list is narrowed by, in kept form. Several values of one mean any of them. */
export interface Criteria {
  ids?: readonly number[]
  exclude?: readonly number[]
  affiliateIds?: readonly number[]
  referrals?: readonly number[]
  /** All of them. */
  amounts?: { readonly [C in Comparison]?: number }
  methods?: readonly string[]
  statuses?: readonly Payout['status'][]
  owners?: readonly number[]
  created?: Span
  updated?: Span
  search?: Search
}

const id = sql.ref('payouts.id')

const column = (name: keyof Payout, kind: Order['kind'] = 'number'): Order => ({
  expression: sql.ref(`payouts.${name}`),
  kind,
  value: (row: Payout) => row[name],
})

const byId: Order = { expression: id, kind: 'number', value: (row: Payout) => row.id }

/** So much of the referrals is ordered by: they may be longer than a cursor, and than any URL. */
const REFERRALS_ORDERED = 100

const byReferrals: Order = {
  expression: sql`substr(${sql.ref('payouts.referrals')}, 1, ${sql.lit(REFERRALS_ORDERED)})`,
  kind: 'text',
  value: (row: Payout) => row.referrals.slice(0, REFERRALS_ORDERED),
}

/** By the names that callers use. */
export const orders: Record<string, Order> = {
  payout_id: byId,
  id: byId,
  affiliate_id: column('affiliate_id'),
  referrals: byReferrals,
  amount: column('amount'),
  payout_method: column('payout_method', 'text'),
  status: column('status', 'text'),
  date: column('created_at'),
  owner: column('owner'),
}

const insertion = prepared((tx: Db, payout: Insertable<PayoutsTable>) =>
  tx.insertInto('payouts').values(payout).returningAll(),
)

export async function insertPayout(tx: Tx, payout: Insertable<PayoutsTable>): Promise<Payout> {
  const row = (await insertion(tx, payout))[0]!
  await insertReferrals(tx, [row])
  return row
}

export async function insertPayouts(tx: Tx, payouts: Insertable<PayoutsTable>[]): Promise<void> {
  const ids = idsInOrder(await tx.insertInto('payouts').values(payouts).returning('id').execute())
  await insertReferrals(
    tx,
    payouts.map(({ referrals }, index) => ({ id: ids[index]!, referrals })),
  )
}

const update = prepared((tx: Db, { id, change }: { id: number; change: Updateable<PayoutsTable> }) =>
  tx.updateTable('payouts').set(change).where('id', '=', id).returningAll(),
)

export async function updatePayout(tx: Tx, id: number, change: Updateable<PayoutsTable>): Promise<Payout> {
  const row = (await update(tx, { id, change }))[0]!
  if (change.referrals !== undefined) {
    await deleteReferrals(tx, id)
    await insertReferrals(tx, [row])
  }
  return row
}

export async function deletePayout(tx: Tx, id: number): Promise<void> {
  await deleteReferrals(tx, id)
  await tx.deleteFrom('payouts').where('id', '=', id).execute()
}

export const findPayout = byIdentifier(db => db.selectFrom('payouts').selectAll(), 'payouts.id')

const hold = prepared((tx: Db, { id }: { id: number }) =>
  tx.selectFrom('payouts').selectAll().where('id', '=', id).forUpdate(),
)

/** Nobody else changes it until the transaction ends. */
export async function holdPayout(tx: Tx, id: number): Promise<Payout | undefined> {
  return (await hold(tx, { id }))[0]
}

const list = new PagedList(
  (db, criteria: Criteria) =>
    db
      .selectFrom('payouts')
      .selectAll('payouts')
      .where(expression => matching(expression, criteria)),
  id,
  ({ created, updated }) => anyShort(created, updated),
)

export async function listPayouts(db: Db, criteria: Criteria, page: Page): Promise<Payout[]> {
  return list.read(db, criteria, page)
}

export async function countPayouts(db: Db, criteria: Criteria): Promise<number> {
  const all = db.selectFrom('payouts')
  // Without a condition an engine counts far faster than with one that is always true.
  const narrowed = Object.keys(criteria).length > 0
  return countOf(narrowed ? all.where(expression => matching(expression, criteria)) : all)
}

const amount = sql.ref('payouts.amount')

/** What totals and reports select of payouts, whatever they are grouped by. */
export const totalColumns = (['paid', 'failed'] as const).flatMap(status => {
  const those = sql`filter (where payouts.status = ${sql.lit(status)})`
  return [sql<number>`count(*) ${those}`.as(`${status}_count`), exactSum(amount, those).as(`${status}_sum`)]
}) as [
  AliasedRawBuilder<number, 'paid_count'>,
  AliasedRawBuilder<string, 'paid_sum'>,
  AliasedRawBuilder<number, 'failed_count'>,
  AliasedRawBuilder<string, 'failed_sum'>,
]

export interface TotalRow {
  paid_count: number
  paid_sum: string
  failed_count: number
  failed_sum: string
}

export async function sumPayouts(db: Db, criteria: Criteria): Promise<TotalRow> {
  return db
    .selectFrom('payouts')
    .select(totalColumns)
    .where(expression => matching(expression, criteria))
    .executeTakeFirstOrThrow()
}

const referralsInsertion = prepared((tx: Db, rows: Insertable<Tables['payout_referrals']>[]) =>
  tx.insertInto('payout_referrals').values(rows),
)

/** Keeps the index from referral to payout in step with the text. Engines bound the parameters of a statement. */
async function insertReferrals(tx: Tx, payouts: { id: number; referrals: string }[]): Promise<void> {
  const rows = payouts.flatMap(({ id, referrals }) =>
    referrals === ''
      ? []
      : referrals.split(',').map(referral => ({ referral_id: Number(referral), payout_id: id })),
  )
  for (let start = 0; start < rows.length; start += 500) {
    await referralsInsertion(tx, rows.slice(start, start + 500))
  }
}

async function deleteReferrals(tx: Tx, payoutId: number): Promise<void> {
  await tx.deleteFrom('payout_referrals').where('payout_id', '=', payoutId).execute()
}

/** What has to hold of a row, all of it. */
function matching(expression: ExpressionBuilder<Tables, 'payouts'>, criteria: Criteria): Expression<SqlBool> {
  const { ids, exclude, affiliateIds, referrals, amounts, methods, statuses, owners } = criteria
  const { created, updated, search } = criteria
  const all: Expression<SqlBool>[] = []
  if (ids) all.push(expression('payouts.id', 'in', ids))
  if (exclude) all.push(expression('payouts.id', 'not in', exclude))
  if (affiliateIds) all.push(expression('payouts.affiliate_id', 'in', affiliateIds))
  if (referrals) {
    all.push(
      expression('payouts.id', 'in', query =>
        query.selectFrom('payout_referrals').select('payout_id').where('referral_id', 'in', referrals),
      ),
    )
  }
  for (const compare in amounts) {
    all.push(expression('payouts.amount', compare as Comparison, amounts[compare as Comparison]!))
  }
  if (methods) all.push(expression('payouts.payout_method', 'in', methods))
  if (statuses) all.push(expression('payouts.status', 'in', statuses))
  if (owners) all.push(expression('payouts.owner', 'in', owners))
  if (created?.first !== undefined) all.push(expression('payouts.created_at', '>=', created.first))
  if (created?.last !== undefined) all.push(expression('payouts.created_at', '<=', created.last))
  if (updated?.first !== undefined) all.push(expression('payouts.updated_at', '>=', updated.first))
  if (search) {
    all.push(
      expression.or([
        ...(search.id === undefined ? [] : [expression('payouts.id', '=', search.id)]),
        sql<boolean>`payouts.payout_method_key LIKE ${search.pattern} ESCAPE '\\'`,
      ]),
    )
  }
  return expression.and(all)
}

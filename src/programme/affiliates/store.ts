/** Every query on affiliates. */
import {
  type Expression,
  type ExpressionBuilder,
  type Insertable,
  type Selectable,
  type SqlBool,
  sql,
  type Updateable,
} from 'kysely'
import { accountMatches } from '../../accounts/users/store.ts'
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
import type { AffiliatesTable, Tables, UsersTable } from '../../storage/tables.ts'

export type Affiliate = Omit<Selectable<AffiliatesTable>, 'notes' | 'payment_email_key' | 'updated_at'>

/** The account's columns, as they stand beside those of its affiliate. */
interface Account {
  account_login: UsersTable['login']
  account_email: UsersTable['email']
  account_display_name: UsersTable['display_name']
  account_first_name: UsersTable['first_name']
  account_last_name: UsersTable['last_name']
  account_registered_at: UsersTable['registered_at']
}

/** The same with its notes, for those who write it. */
export type WholeAffiliate = Affiliate & { notes: string }

export type AffiliateRow = Affiliate & Partial<Account>

/** What a list is narrowed by, in kept form. Several values of one mean any of them. */
export interface Criteria {
  ids?: readonly number[]
  exclude?: readonly number[]
  userIds?: readonly number[]
  statuses?: readonly Affiliate['status'][]
  rateTypes?: readonly string[]
  paymentEmailKeys?: readonly string[]
  registered?: Span
  updated?: Span
  search?: Search
}

const id = sql.ref('affiliates.id')

const column = (name: keyof Affiliate, kind: Order['kind'] = 'number'): Order => ({
  expression: sql.ref(`affiliates.${name}`),
  kind,
  value: (row: Affiliate) => row[name]!,
})

const byId: Order = { expression: id, kind: 'number', value: (row: Affiliate) => row.id }
const byRegistration = column('registered_at')

/** By the names that callers use. */
export const orders: Record<string, Order> = {
  affiliate_id: byId,
  id: byId,
  user_id: column('user_id'),
  rate: {
    expression: sql`coalesce(affiliates.rate, -1)`,
    kind: 'number',
    value: (row: Affiliate) => row.rate ?? -1,
  },
  rate_type: {
    expression: sql`coalesce(affiliates.rate_type, '')`,
    kind: 'text',
    value: (row: Affiliate) => row.rate_type ?? '',
  },
  payment_email: column('payment_email', 'text'),
  status: column('status', 'text'),
  earnings: column('earnings'),
  unpaid_earnings: column('unpaid_earnings'),
  referrals: column('referrals'),
  visits: column('visits'),
  date_registered: byRegistration,
  date: byRegistration,
}

const insertion = prepared((tx: Db, affiliate: Insertable<AffiliatesTable>) =>
  tx.insertInto('affiliates').values(affiliate).returning(wholeColumns),
)

export async function insertAffiliate(
  tx: Tx,
  affiliate: Insertable<AffiliatesTable>,
): Promise<WholeAffiliate> {
  return (await insertion(tx, affiliate))[0]!
}

/** @returns their identifiers, in the same order */
export async function insertAffiliates(tx: Tx, affiliates: Insertable<AffiliatesTable>[]): Promise<number[]> {
  return idsInOrder(await tx.insertInto('affiliates').values(affiliates).returning('id').execute())
}

const update = prepared((tx: Db, { id, change }: { id: number; change: Updateable<AffiliatesTable> }) =>
  tx.updateTable('affiliates').set(change).where('id', '=', id).returning(wholeColumns),
)

export async function updateAffiliate(
  tx: Tx,
  id: number,
  change: Updateable<AffiliatesTable>,
): Promise<WholeAffiliate> {
  return (await update(tx, { id, change }))[0]!
}

export async function deleteAffiliate(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('affiliates').where('id', '=', id).execute()
}

/** What is added to the figures of an affiliate. Those that stay are left out, and so are their indexes. */
export interface Addition {
  readonly earnings?: bigint
  readonly unpaid_earnings?: bigint
  readonly referrals?: number
  readonly visits?: number
}

const addition = prepared((tx: Db, { id, added }: { id: number; added: Addition }) =>
  tx
    .updateTable('affiliates')
    .set(
      Object.fromEntries(
        Object.entries(added).map(([name, value]) => [name, sql`${sql.ref(name)} + ${value}`]),
      ),
    )
    .where('id', '=', id),
)

/** `updated_at` stays: it tells of edits. Nothing happens to one that was deleted. */
export async function addToCounters(tx: Tx, id: number, added: Addition): Promise<void> {
  await addition(tx, { id, added })
}

const findAlone = byIdentifier(db => rows(db, false), 'affiliates.id')
const findWithAccount = byIdentifier(db => rows(db, true), 'affiliates.id')

export async function findAffiliate(
  db: Db,
  id: number,
  withAccount = false,
): Promise<AffiliateRow | undefined> {
  return (withAccount ? findWithAccount : findAlone)(db, id)
}

/** Those that are there, with their accounts, in no order. */
export async function findAffiliates(db: Db, ids: readonly number[]): Promise<AffiliateRow[]> {
  return rows(db, true).where('affiliates.id', 'in', ids).execute()
}

export async function findNotes(db: Db, id: number): Promise<string | undefined> {
  const row = await db.selectFrom('affiliates').select('notes').where('id', '=', id).executeTakeFirst()
  return row?.notes
}

const hold = prepared((tx: Db, { id }: { id: number }) =>
  tx.selectFrom('affiliates').select(wholeColumns).where('affiliates.id', '=', id).forUpdate(),
)

/** Nobody else changes it until the transaction ends. */
export async function holdAffiliate(tx: Tx, id: number): Promise<WholeAffiliate | undefined> {
  return (await hold(tx, { id }))[0]
}

const exists = prepared((db: Db, { id }: { id: number }) =>
  db.selectFrom('affiliates').select('id').where('id', '=', id),
)

export async function affiliateExists(db: Db, id: number): Promise<boolean> {
  return (await exists(db, { id })).length > 0
}

const list = (withAccount: boolean) =>
  new PagedList(
    (db, criteria: Criteria) => rows(db, withAccount).where(expression => matching(expression, criteria)),
    id,
    ({ registered, updated }) => anyShort(registered, updated),
  )
const listAlone = list(false)
const listWithAccount = list(true)

export async function listAffiliates(
  db: Db,
  criteria: Criteria,
  page: Page,
  withAccount: boolean,
): Promise<AffiliateRow[]> {
  return (withAccount ? listWithAccount : listAlone).read(db, criteria, page)
}

export async function countAffiliates(db: Db, criteria: Criteria): Promise<number> {
  const all = db.selectFrom('affiliates')
  // Without a condition an engine counts far faster than with one that is always true.
  const narrowed = Object.keys(criteria).length > 0
  return countOf(narrowed ? all.where(expression => matching(expression, criteria)) : all)
}

export async function countByStatus(db: Db, criteria: Criteria): Promise<Map<Affiliate['status'], number>> {
  const rows = await db
    .selectFrom('affiliates')
    .select(['status', expression => expression.fn.countAll<number>().as('count')])
    .where(expression => matching(expression, criteria))
    .groupBy('status')
    .execute()
  return new Map(rows.map(({ status, count }) => [status, count]))
}

/** What a record is made of; notes may be long and are read by themselves. */
const columns = [
  'affiliates.id',
  'affiliates.user_id',
  'affiliates.rate',
  'affiliates.rate_type',
  'affiliates.payment_email',
  'affiliates.status',
  'affiliates.earnings',
  'affiliates.unpaid_earnings',
  'affiliates.referrals',
  'affiliates.visits',
  'affiliates.registered_at',
] as const
const wholeColumns = [...columns, 'affiliates.notes'] as const

function rows(db: Db, withAccount: boolean) {
  return db
    .selectFrom('affiliates')
    .select(columns)
    .$if(withAccount, query =>
      query
        .innerJoin('users', 'users.id', 'affiliates.user_id')
        .select([
          'users.login as account_login',
          'users.email as account_email',
          'users.display_name as account_display_name',
          'users.first_name as account_first_name',
          'users.last_name as account_last_name',
          'users.registered_at as account_registered_at',
        ]),
    )
}

/** What has to hold of a row, all of it. */
function matching(
  expression: ExpressionBuilder<Tables, 'affiliates'>,
  criteria: Criteria,
): Expression<SqlBool> {
  const { ids, exclude, userIds, statuses, rateTypes, paymentEmailKeys, registered, updated, search } =
    criteria
  const all: Expression<SqlBool>[] = []
  if (ids) all.push(expression('affiliates.id', 'in', ids))
  if (exclude) all.push(expression('affiliates.id', 'not in', exclude))
  if (userIds) all.push(expression('affiliates.user_id', 'in', userIds))
  if (statuses) all.push(expression('affiliates.status', 'in', statuses))
  if (rateTypes) all.push(expression(sql<string>`coalesce(affiliates.rate_type, '')`, 'in', rateTypes))
  if (paymentEmailKeys) all.push(expression('affiliates.payment_email_key', 'in', paymentEmailKeys))
  if (registered?.first !== undefined)
    all.push(expression('affiliates.registered_at', '>=', registered.first))
  if (registered?.last !== undefined) all.push(expression('affiliates.registered_at', '<=', registered.last))
  if (updated?.first !== undefined) all.push(expression('affiliates.updated_at', '>=', updated.first))
  if (search) {
    all.push(
      expression.or([
        ...(search.id === undefined ? [] : [expression('affiliates.id', '=', search.id)]),
        expression('affiliates.payment_email_key', '=', search.key),
        expression('affiliates.user_id', 'in', query =>
          query.selectFrom('users').select('users.id').where(accountMatches(search)),
        ),
      ]),
    )
  }
  return expression.and(all)
}

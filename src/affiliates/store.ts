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
import type { Db, Tx } from '../storage/database.ts'
import {
  anyShort,
  containing,
  idsInOrder,
  type Order,
  type Page,
  readPage,
  type Span,
} from '../storage/page.ts'
import type { AffiliatesTable, Tables, UsersTable } from '../storage/tables.ts'

export type Affiliate = Selectable<AffiliatesTable>

/** The account's columns, as they stand beside those of its affiliate. */
export interface Account {
  account_login: UsersTable['login']
  account_email: UsersTable['email']
  account_display_name: UsersTable['display_name']
  account_first_name: UsersTable['first_name']
  account_last_name: UsersTable['last_name']
  account_registered_at: UsersTable['registered_at']
}

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
  search?: { id?: number; key: string }
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

export async function insertAffiliate(tx: Tx, affiliate: Insertable<AffiliatesTable>): Promise<Affiliate> {
  return tx.insertInto('affiliates').values(affiliate).returningAll().executeTakeFirstOrThrow()
}

/** @returns their identifiers, in the same order */
export async function insertAffiliates(tx: Tx, affiliates: Insertable<AffiliatesTable>[]): Promise<number[]> {
  return idsInOrder(await tx.insertInto('affiliates').values(affiliates).returning('id').execute())
}

export async function updateAffiliate(
  tx: Tx,
  id: number,
  change: Updateable<AffiliatesTable>,
): Promise<void> {
  await tx.updateTable('affiliates').set(change).where('id', '=', id).execute()
}

export async function deleteAffiliate(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('affiliates').where('id', '=', id).execute()
}

export async function findAffiliate(
  db: Db,
  id: number,
  withAccount = false,
): Promise<AffiliateRow | undefined> {
  return rows(db, withAccount).where('affiliates.id', '=', id).executeTakeFirst()
}

/** Nobody else changes it until the transaction ends. */
export async function holdAffiliate(tx: Tx, id: number): Promise<Affiliate | undefined> {
  return tx.selectFrom('affiliates').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

export async function affiliateExists(db: Db, id: number): Promise<boolean> {
  return (
    (await db.selectFrom('affiliates').select('id').where('id', '=', id).executeTakeFirst()) !== undefined
  )
}

export async function listAffiliates(
  db: Db,
  criteria: Criteria,
  page: Page,
  withAccount: boolean,
): Promise<AffiliateRow[]> {
  return readPage(
    rows(db, withAccount).where(expression => matching(expression, criteria)),
    id,
    page,
    anyShort(criteria.registered, criteria.updated),
  )
}

export async function countAffiliates(db: Db, criteria: Criteria): Promise<number> {
  const { count } = await db
    .selectFrom('affiliates')
    .select(expression => expression.fn.countAll<number>().as('count'))
    .where(expression => matching(expression, criteria))
    .executeTakeFirstOrThrow()
  return count
}

function rows(db: Db, withAccount: boolean) {
  return db
    .selectFrom('affiliates')
    .selectAll('affiliates')
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
    const pattern = containing(search.key)
    const like = (name: 'login_key' | 'email_key' | 'display_name_key') =>
      sql<boolean>`${sql.ref(name)} LIKE ${pattern} ESCAPE '\\'`
    all.push(
      expression.or([
        ...(search.id === undefined ? [] : [expression('affiliates.id', '=', search.id)]),
        expression('affiliates.payment_email_key', '=', search.key),
        expression('affiliates.user_id', 'in', query =>
          query
            .selectFrom('users')
            .select('users.id')
            .where(
              sql<boolean>`(${like('login_key')} OR ${like('email_key')} OR ${like('display_name_key')})`,
            ),
        ),
      ]),
    )
  }
  return expression.and(all)
}

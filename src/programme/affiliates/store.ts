/** Queries specific to affiliates: with their accounts, and by status. */
import { type Expression, type RawBuilder, type Selectable, type SqlBool, sql } from 'kysely'
import { accountMatches } from '../../accounts/users/store.ts'
import { type UsersTable, usersTable } from '../../accounts/users/table.ts'
import { foldCase, type TextSearch } from '../../base/text.ts'
import type { Criteria } from '../../records/filters.ts'
import { storeOf } from '../../records/store.ts'
import { byIdentifier } from '../../storage/by-identifier.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { type Page, PagedList } from '../../storage/page.ts'
import { prepared } from '../../storage/prepared.ts'
import { type Affiliate, type AffiliateColumns, affiliate } from './affiliate.ts'

export const affiliates = storeOf(affiliate, { search: matches, searched: usersTable })

/** For other tables: that a column names an affiliate whom a search finds. */
export const namesOneOf = (column: RawBuilder<unknown>, search: TextSearch): RawBuilder<boolean> =>
  sql<boolean>`${column} IN (SELECT affiliates.id FROM affiliates WHERE ${matches(search)})`

/** By the address for payments, or by the account. */
function matches(search: TextSearch): Expression<SqlBool> {
  const isPaidAt = sql`affiliates.payment_email_key = ${search.key}`
  if (search.many !== undefined) {
    return sql<boolean>`(${isPaidAt} OR (SELECT ${accountMatches(search)} FROM users WHERE users.id = affiliates.user_id))`
  }
  // One condition with OR would be looked at for every affiliate.
  return sql<boolean>`affiliates.id IN (SELECT affiliates.id FROM affiliates WHERE ${isPaidAt}
    UNION ALL SELECT affiliates.id FROM users INNER JOIN affiliates ON affiliates.user_id = users.id
    WHERE ${accountMatches(search)})`
}

/** Increments of an affiliate's figures. Unchanged figures are left out, so that their indexes are not touched. */
export interface Addition {
  readonly earnings?: bigint
  readonly unpaid_earnings?: bigint
  readonly referrals?: number
  readonly visits?: number
}

const addition = prepared((tx: Db, { id, added: addition }: { id: number; added: Addition }) =>
  tx
    .updateTable('affiliates')
    .set(
      Object.fromEntries(
        Object.entries(addition).map(([name, value]) => [name, sql`${sql.ref(name)} + ${value}`]),
      ),
    )
    .where('id', '=', id),
)

/** `updated_at` stays: it is about edits. A deleted affiliate is skipped. */
export async function addToCounters(tx: Tx, id: number, added: Addition): Promise<void> {
  await addition.later(tx, { id, added })
}

/** One statement for affiliates with changes in the same figures. */
const additions = prepared((tx: Db, additions: readonly (Addition & { readonly id: number })[]) => {
  const names = Object.keys(additions[0]!)
  const column = (name: string) => sql.ref<number>(`added.column${names.indexOf(name) + 1}`)
  const rows = additions.map(
    addition => sql`(${sql.join(Object.values(addition).map(value => sql`cast(${value} as bigint)`))})`,
  )
  return tx
    .updateTable('affiliates')
    .from(sql`(VALUES ${sql.join(rows)})`.as('added'))
    .set(
      Object.fromEntries(
        names
          .filter(name => name !== 'id')
          .map(name => [name, sql`${sql.ref(`affiliates.${name}`)} + ${column(name)}`]),
      ),
    )
    .where('affiliates.id', '=', column('id'))
})

/** The same for several affiliates: one statement per set of figures. */
export async function addToCountersOf(
  tx: Tx,
  all: readonly (readonly [id: number, added: Addition])[],
): Promise<void> {
  if (all.length === 1) return addToCounters(tx, ...all[0]!)
  const byFigures = Map.groupBy(all, ([, added]) => Object.keys(added).join())
  for (const group of byFigures.values()) {
    await additions(
      tx,
      group.map(([id, added]) => ({ id, ...added })),
    )
  }
}

type User = Selectable<UsersTable>

/** Columns of account and group that are read with the affiliate. */
interface Account {
  account_login: User['login']
  account_email: User['email']
  account_email_changed_at: User['email_changed_at']
  account_display_name: User['display_name']
  account_first_name: User['first_name']
  account_last_name: User['last_name']
  account_registered_at: User['registered_at']
  group_id: number | null
  group_name: string | null
}

export type AffiliateRow = AffiliateColumns & Partial<Account>

const findWithAccount = byIdentifier(withAccounts, 'affiliates.id')

export async function findAffiliate(
  db: Db,
  id: number,
  withAccount: boolean,
): Promise<AffiliateRow | undefined> {
  return withAccount ? findWithAccount(db, id) : affiliates.find(db, id)
}

const listWithAccounts = new PagedList(
  (db, criteria: Criteria) => withAccounts(db).where(affiliates.matching(criteria)),
  affiliates.orders.id!,
  affiliates.few,
)

export async function listAffiliates(
  db: Db,
  criteria: Criteria,
  page: Page,
  withAccount: boolean,
): Promise<AffiliateRow[]> {
  return withAccount ? listWithAccounts.read(db, criteria, page) : affiliates.page(db, criteria, page)
}

/** What commission depends on. */
export const termColumns = ['rate', 'rate_type', 'group_id'] as const
export type Terms = Pick<Affiliate, (typeof termColumns)[number]>

const terms = prepared((db: Db, { id }: { id: number }) =>
  db.selectFrom('affiliates').select(termColumns).where('id', '=', id),
)

/** @returns undefined if there is no such affiliate */
export async function termsOf(db: Db, id: number): Promise<Terms | undefined> {
  return (await terms(db, { id }))[0]
}

/** The accounts among `userIds` that are affiliates. */
export async function accountsAmong(db: Db, userIds: readonly number[]): Promise<Set<number>> {
  if (userIds.length === 0) return new Set()
  const rows = await db.selectFrom('affiliates').select('user_id').where('user_id', 'in', userIds).execute()
  return new Set(rows.map(({ user_id }) => user_id))
}

const ofAccount = prepared((db: Db, by: { userId?: number; login?: string }) =>
  db
    .selectFrom('affiliates')
    .innerJoin('users', 'users.id', 'affiliates.user_id')
    .select('affiliates.id')
    .where(by.login === undefined ? sql`users.id` : sql`users.login_key`, '=', by.userId ?? by.login),
)

/** @param account its identifier, or its login, ignoring case */
export async function affiliateOfAccount(db: Db, account: number | string): Promise<number | undefined> {
  const by = typeof account === 'number' ? { userId: account } : { login: foldCase(account) }
  return (await ofAccount(db, by))[0]?.id
}

/** The affiliates that exist, with their accounts, in no particular order. */
export async function findAffiliates(db: Db, ids: readonly number[]): Promise<AffiliateRow[]> {
  return withAccounts(db).where('affiliates.id', 'in', ids).execute()
}

export async function findNotes(db: Db, id: number): Promise<string | undefined> {
  const row = await db.selectFrom('affiliates').select('notes').where('id', '=', id).executeTakeFirst()
  return row?.notes
}

export async function countByStatus(db: Db, criteria: Criteria): Promise<Map<Affiliate['status'], number>> {
  const rows = await db
    .selectFrom('affiliates')
    .select(['status', expression => expression.fn.countAll<number>().as('count')])
    .where(affiliates.matching(criteria))
    .groupBy('status')
    .execute()
  return new Map(rows.map(({ status, count }) => [status, count]))
}

function withAccounts(db: Db) {
  return db
    .selectFrom('affiliates')
    .innerJoin('users', 'users.id', 'affiliates.user_id')
    .leftJoin('groups', 'groups.id', 'affiliates.group_id')
    .select([
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
      'users.login as account_login',
      'users.email as account_email',
      'users.email_changed_at as account_email_changed_at',
      'users.display_name as account_display_name',
      'users.first_name as account_first_name',
      'users.last_name as account_last_name',
      'users.registered_at as account_registered_at',
      'affiliates.group_id',
      'groups.name as group_name',
    ])
}

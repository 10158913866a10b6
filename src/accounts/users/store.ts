/** Queries on accounts. */
import {
  type Expression,
  type ExpressionBuilder,
  type Insertable,
  type Selectable,
  type SqlBool,
  sql,
  type Updateable,
} from 'kysely'
import type { Search, TextSearch } from '../../base/text.ts'
import { containing } from '../../storage/containing.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { insertMany } from '../../storage/insert-many.ts'
import { countOf, idsInOrder, type Order, type Page, PagedList } from '../../storage/page.ts'
import { prepared } from '../../storage/prepared.ts'
import type { Tables } from '../../storage/tables.ts'
import type {} from '../second-factor/table.ts'
import type { UsersTable } from './table.ts'

export type User = Selectable<UsersTable>
export type NewUser = Insertable<UsersTable>

/** An account, its affiliate, and when its second factor was confirmed. */
export type UserRow = User & { affiliate_id: number | null; second_factor_at: number | null }

/** List filters in stored form. Several values of one filter mean any of them. */
export interface Criteria {
  ids?: readonly number[]
  excluded?: readonly number[]
  loginKeys?: readonly string[]
  roles?: readonly User['role'][]
  search?: Search
}

const id = sql.ref('users.id')

const column = (name: keyof User, kind: Order['kind']): Order => ({
  expression: sql.ref(`users.${name}`),
  kind,
  value: (row: User) => row[name],
})

/** Orders by the API's names. Each has an index. */
export const orders: Record<string, Order> = {
  id: { expression: id, kind: 'number', value: (row: User) => row.id },
  login: column('login_key', 'text'),
  email: column('email_key', 'text'),
  role: column('role', 'text'),
  date_registered: column('registered_at', 'number'),
}

const insertion = prepared((tx: Db, user: NewUser) => tx.insertInto('users').values(user).returning('id'))

export async function insertUser(tx: Tx, user: NewUser): Promise<number> {
  return (await insertion(tx, user))[0]!.id
}

/** @returns their identifiers, in the same order */
export async function insertUsers(tx: Tx, users: NewUser[]): Promise<number[]> {
  return idsInOrder(await insertMany(tx, { table: 'users', ending: 'RETURNING id' }, users))
}

const insertionUnlessTaken = prepared((tx: Db, user: NewUser) =>
  tx
    .insertInto('users')
    .values(user)
    .onConflict(conflict => conflict.column('login_key').doNothing())
    .returning('id'),
)

/** @returns undefined if another account has the login */
export async function insertUserUnlessTaken(tx: Tx, user: NewUser): Promise<number | undefined> {
  return (await insertionUnlessTaken(tx, user))[0]?.id
}

export async function updateUser(tx: Tx, id: number, change: Updateable<UsersTable>): Promise<void> {
  await tx.updateTable('users').set(change).where('id', '=', id).execute()
}

export async function findUser(db: Db, id: number): Promise<User | undefined> {
  return db.selectFrom('users').selectAll().where('id', '=', id).executeTakeFirst()
}

export async function findUsers(db: Db, ids: readonly number[]): Promise<User[]> {
  if (ids.length === 0) return []
  return db.selectFrom('users').selectAll().where('id', 'in', ids).execute()
}

/** Locks the account until the transaction ends. */
export async function lockUser(tx: Tx, id: number): Promise<User | undefined> {
  return tx.selectFrom('users').selectAll().where('id', '=', id).forUpdate().executeTakeFirst()
}

export async function findUserByLoginKey(db: Db, loginKey: string): Promise<User | undefined> {
  return db.selectFrom('users').selectAll().where('login_key', '=', loginKey).executeTakeFirst()
}

export async function findUserByEmailKey(db: Db, emailKey: string): Promise<User | undefined> {
  return db.selectFrom('users').selectAll().where('email_key', '=', emailKey).executeTakeFirst()
}

const existing = prepared((db: Db, { id }: { id: number }) =>
  db.selectFrom('users').select('id').where('id', '=', id),
)

/** The identifiers among `ids` that are accounts. */
export async function usersAmong(db: Db, ids: readonly number[]): Promise<Set<number>> {
  if (ids.length === 0) return new Set()
  const rows = await db.selectFrom('users').select('id').where('id', 'in', ids).execute()
  return new Set(rows.map(row => row.id))
}

/** The keys of these that accounts have already. */
export async function takenAmong(
  db: Db,
  column: 'login_key' | 'email_key',
  users: readonly NewUser[],
): Promise<Set<string>> {
  if (users.length === 0) return new Set()
  const keys = users.map(user => user[column])
  const rows = await db.selectFrom('users').select(`${column} as key`).where(column, 'in', keys).execute()
  return new Set(rows.map(row => row.key))
}

export async function userExists(db: Db, id: number): Promise<boolean> {
  return (await existing(db, { id })).length > 0
}

const holding = (column: 'login_key' | 'email_key') =>
  prepared((db: Db, { key }: { key: string }) => db.selectFrom('users').select('id').where(column, '=', key))
const holdingLogin = holding('login_key')
const holdingEmail = holding('email_key')

export async function loginExists(db: Db, key: string): Promise<boolean> {
  return (await holdingLogin(db, { key })).length > 0
}

export async function emailExists(db: Db, key: string): Promise<boolean> {
  return (await holdingEmail(db, { key })).length > 0
}

export async function anyUser(db: Db): Promise<boolean> {
  return (await db.selectFrom('users').select('id').limit(1).executeTakeFirst()) !== undefined
}

/** Whether another administrator can log in. Locks them: of two who demote each other, one waits here for the other. */
export async function anyOtherAdministrator(tx: Tx, id: number): Promise<boolean> {
  const administrators = await tx
    .selectFrom('users')
    .select('id')
    .where('role', '=', 'administrator')
    .where('password_hash', '!=', '')
    .orderBy('id')
    .forUpdate()
    .execute()
  return administrators.some(administrator => administrator.id !== id)
}

/** The administrator with the lowest identifier. */
export async function firstAdministrator(db: Db): Promise<number | undefined> {
  const query = db.selectFrom('users').select('id').where('role', '=', 'administrator').orderBy('id').limit(1)
  return (await query.executeTakeFirst())?.id
}

/** The next accounts by identifier, at most `limit`. */
export async function usersAfter(db: Db, id: number, limit: number): Promise<User[]> {
  return db.selectFrom('users').selectAll().where('id', '>', id).orderBy('id').limit(limit).execute()
}

export async function findUserRow(db: Db, id: number): Promise<UserRow | undefined> {
  return rows(db).where('users.id', '=', id).executeTakeFirst()
}

const list = new PagedList(
  (db, criteria: Criteria) => rows(db).where(expression => matching(expression, criteria)),
  orders.id!,
)

export async function listUsers(db: Db, criteria: Criteria, page: Page): Promise<UserRow[]> {
  return list.read(db, criteria, page)
}

export async function countUsers(db: Db, criteria: Criteria): Promise<number> {
  const all = db.selectFrom('users')
  // Without a condition, engines count far faster than with one that is always true.
  const isFiltered = Object.keys(criteria).length > 0
  return countOf(isFiltered ? all.where(expression => matching(expression, criteria)) : all)
}

const searched = ['login_key', 'email_key', 'display_name_key'].map(name => sql.ref(`users.${name}`))

/** Matches the words in login, e-mail and display name. */
export const accountMatches = (search: TextSearch): Expression<SqlBool> => containing(searched, search, id)

function rows(db: Db) {
  return db
    .selectFrom('users')
    .leftJoin('affiliates', 'affiliates.user_id', 'users.id')
    .leftJoin('second_factors', 'second_factors.user_id', 'users.id')
    .selectAll('users')
    .select(['affiliates.id as affiliate_id', 'second_factors.confirmed_at as second_factor_at'])
}

/** All criteria as one condition. */
function matching(
  expression: ExpressionBuilder<Tables, 'users'>,
  { ids, excluded, loginKeys, roles, search }: Criteria,
): Expression<SqlBool> {
  const conditions: Expression<SqlBool>[] = []
  if (ids) conditions.push(expression('users.id', 'in', ids))
  if (excluded) conditions.push(expression('users.id', 'not in', excluded))
  if (loginKeys) conditions.push(expression('users.login_key', 'in', loginKeys))
  if (roles) conditions.push(expression('users.role', 'in', roles))
  if (search) {
    conditions.push('id' in search ? expression('users.id', '=', search.id) : accountMatches(search))
  }
  return expression.and(conditions)
}

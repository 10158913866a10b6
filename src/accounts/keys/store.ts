/** Queries on API keys. */
import {
  type Expression,
  type ExpressionBuilder,
  type Insertable,
  type Selectable,
  type SqlBool,
  sql,
} from 'kysely'
import type { Search } from '../../base/text.ts'
import { containing } from '../../storage/containing.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { countOf, type Order, type Page, PagedList } from '../../storage/page.ts'
import { prepared } from '../../storage/prepared.ts'
import type { Tables } from '../../storage/tables.ts'
import type { Role } from '../users/roles.ts'
import type { ApiKeysTable } from './table.ts'

export type ApiKey = Selectable<ApiKeysTable>

/** A key with the role of its owner. */
export type OwnedKey = ApiKey & { owner_role: Role }

/** The same, with the owner's login. */
export type KeyRow = OwnedKey & { owner: string }

/** List filters, in stored form. */
export interface Criteria {
  userIds?: readonly number[]
  search?: Search
}

const id = sql.ref('api_keys.id')

const time = (name: 'last_used_at' | 'expires_at'): Order => ({
  expression: sql`coalesce(${sql.ref(`api_keys.${name}`)}, 0)`,
  kind: 'number',
  value: (row: ApiKey) => row[name] ?? 0,
})

/** Orders by the API's names. Keys are few: only the identifier has an index. */
export const orders: Record<string, Order> = {
  id: { expression: id, kind: 'number', value: (row: ApiKey) => row.id },
  name: { expression: sql.ref('api_keys.name'), kind: 'text', value: (row: ApiKey) => row.name },
  date_created: {
    expression: sql.ref('api_keys.created_at'),
    kind: 'number',
    value: (row: ApiKey) => row.created_at,
  },
  last_used: time('last_used_at'),
  expires: time('expires_at'),
}

export async function insertKey(tx: Tx, key: Insertable<ApiKeysTable>): Promise<number> {
  const { id } = await tx.insertInto('api_keys').values(key).returning('id').executeTakeFirstOrThrow()
  return id
}

const byTokenHash = prepared((db: Db, { tokenHash }: { tokenHash: string }) =>
  owned(db).where('token_hash', '=', tokenHash),
)

export async function findKeyByTokenHash(db: Db, tokenHash: string): Promise<OwnedKey | undefined> {
  return (await byTokenHash(db, { tokenHash }))[0]
}

export async function findKeysByTokenHash(db: Db, tokenHashes: readonly string[]): Promise<OwnedKey[]> {
  return owned(db).where('token_hash', 'in', tokenHashes).execute()
}

/** @param key its identifier or its public part */
export async function findKey(db: Db, key: number | string): Promise<KeyRow | undefined> {
  return one(db, key).executeTakeFirst()
}

/** Locks the key until the transaction ends. */
export async function lockKey(tx: Tx, key: number | string): Promise<KeyRow | undefined> {
  return one(tx, key).forUpdate('api_keys').executeTakeFirst()
}

function one(db: Db, key: number | string) {
  return rows(db).where(typeof key === 'number' ? 'api_keys.id' : 'api_keys.public_key', '=', key)
}

const list = new PagedList(
  (db, criteria: Criteria) => rows(db).where(expression => matching(expression, criteria)),
  orders.id!,
)

export async function listKeys(db: Db, criteria: Criteria, page: Page): Promise<KeyRow[]> {
  return list.read(db, criteria, page)
}

export async function countKeys(db: Db, criteria: Criteria): Promise<number> {
  return countOf(db.selectFrom('api_keys').where(expression => matching(expression, criteria)))
}

export async function setRevoked(tx: Tx, id: number, revokedAt: number): Promise<void> {
  await tx.updateTable('api_keys').set({ revoked_at: revokedAt }).where('id', '=', id).execute()
}

/** Only moves forward, so that a late update changes nothing. */
export async function setLastUsed(tx: Tx, id: number, lastUsedAt: number): Promise<void> {
  await tx
    .updateTable('api_keys')
    .set({ last_used_at: lastUsedAt })
    .where('id', '=', id)
    .where(expression =>
      expression.or([expression('last_used_at', 'is', null), expression('last_used_at', '<', lastUsedAt)]),
    )
    .execute()
}

const rows = (db: Db) => owned(db).select('users.login as owner')

function owned(db: Db) {
  return db
    .selectFrom('api_keys')
    .innerJoin('users', 'users.id', 'api_keys.user_id')
    .selectAll('api_keys')
    .select('users.role as owner_role')
}

const searched = [sql.ref('api_keys.name_key'), sql.ref('api_keys.public_key')]

/** All criteria as one condition. */
function matching(
  expression: ExpressionBuilder<Tables, 'api_keys'>,
  { userIds, search }: Criteria,
): Expression<SqlBool> {
  const conditions: Expression<SqlBool>[] = []
  if (userIds) conditions.push(expression('api_keys.user_id', 'in', userIds))
  if (search) {
    conditions.push(
      'id' in search
        ? expression('api_keys.id', '=', search.id)
        : containing(searched, search, sql.ref('api_keys.id')),
    )
  }
  return expression.and(conditions)
}

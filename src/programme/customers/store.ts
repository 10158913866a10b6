import { storeOf } from '../../records/store.ts'
import type { Db } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import { customer } from './customer.ts'

export const customers = storeOf(customer)

const byEmailKey = prepared((db: Db, { key }: { key: string }) =>
  db.selectFrom('customers').selectAll().where('email_key', '=', key).where('email_key', '<>', ''),
)

const byIds = prepared((db: Db, { ids }: { ids: readonly number[] }) =>
  db.selectFrom('customers').select(['id', 'first_name', 'last_name', 'email']).where('id', 'in', ids),
)

export async function findNames(db: Db, ids: readonly number[]) {
  return ids.length === 0 ? [] : byIds(db, { ids })
}

export async function findByEmailKey(db: Db, key: string) {
  return (await byEmailKey(db, { key }))[0]
}

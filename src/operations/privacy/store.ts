/** Queries for everything about one person, in every table by what is declared of it. See docs/decisions/erasure.md. */
import { type RawBuilder, sql } from 'kysely'
import type { Db, Tx } from '../../storage/database.ts'
import { columnsOf, type Table } from '../../storage/table.ts'

/** The rows by which a person is known: the account, every affiliate that it is or was, and the customer. */
export interface Person {
  readonly users: readonly number[]
  readonly affiliates: readonly number[]
  readonly customers: readonly number[]
}

export async function personOf(db: Db, userId: number): Promise<Person> {
  const { rows } = await sql<{ id: number }>`
    SELECT id FROM affiliates WHERE user_id = ${userId}
    UNION SELECT record_id FROM events WHERE record_kind = 'affiliate' AND person_id = ${userId}
    ORDER BY 1`.execute(db)
  const { rows: customers } = await sql<{ id: number }>`
    SELECT id FROM customers WHERE user_id = ${userId} ORDER BY 1`.execute(db)
  return {
    users: [userId],
    affiliates: rows.map(row => row.id),
    customers: customers.map(row => row.id),
  }
}

/** What holds of the rows of a table that are about a person; undefined where none can be. */
function aboutPerson(table: Table, person: Person): RawBuilder<unknown> | undefined {
  // By themselves, whether or not they have an account.
  const own = ['users', 'customers'].includes(table.name) ? person[table.name as keyof Person] : undefined
  if (own) return own.length === 0 ? sql`1 = 0` : sql`id IN (${sql.join(own)})`
  for (const [name, { references }] of columnsOf(table)) {
    const ids = references?.person ? person[references.table as keyof Person] : undefined
    if (ids) return ids.length === 0 ? sql`1 = 0` : sql`${sql.ref(name)} IN (${sql.join(ids)})`
  }
  return undefined
}

/** The rows about a person in order of their key, and nothing secret. */
export async function rowsAbout<R>(db: Db, table: Table, person: Person): Promise<R[]> {
  const about = aboutPerson(table, person)
  if (!about) return []
  const columns = [...columnsOf(table)].filter(([, { secret }]) => !secret).map(([name]) => sql.ref(name))
  const order = sql.join(table.key.map(name => sql.ref(name)))
  const { rows } = await sql<R>`
    SELECT ${sql.join(columns)} FROM ${sql.table(table.name)} WHERE ${about} ORDER BY ${order}`.execute(db)
  return rows
}

/** Empties what is personal in the rows about a person. */
export async function eraseAbout(tx: Tx, table: Table, person: Person, time: number): Promise<void> {
  const about = aboutPerson(table, person)
  const names = [...columnsOf(table)].filter(([, { personal }]) => personal === 'erase')
  if (!about || names.length === 0) return
  const emptied = names.map(([name, column]) => sql`${sql.ref(name)} = ${column.nullable ? null : ''}`)
  const changed = 'updated_at' in table.columns ? [sql`updated_at = ${time}`] : []
  const full = names.map(([name]) => sql`${sql.ref(name)} <> ''`)
  await sql`UPDATE ${sql.table(table.name)} SET ${sql.join([...emptied, ...changed])}
    WHERE ${about} AND (${sql.join(full, sql` OR `)})`.execute(tx)
}

/** Empties what is personal in the log of customers, which names no account where there is none. */
export async function eraseCustomerEvents(tx: Tx, ids: readonly number[]): Promise<void> {
  if (ids.length === 0) return
  await sql`UPDATE events SET personal = '' WHERE record_kind = 'customer' AND record_id IN (${sql.join(ids)})
    AND personal <> ''`.execute(tx)
}

/** Answers that are kept to be replayed and show the customer. */
export async function removeCustomerAnswers(tx: Tx, id: number): Promise<void> {
  await tx.deleteFrom('idempotency_keys').where('body', 'like', `%"customer_id":${id},"user_id":%`).execute()
}

/** Answers that are kept to be replayed and show a record of the account: its affiliate, as it was. */
export async function removeAnswers(tx: Tx, userId: number): Promise<void> {
  await tx.deleteFrom('idempotency_keys').where('body', 'like', `%"user_id":${userId},%`).execute()
}

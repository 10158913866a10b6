/** The rights of a person: a copy of everything that is stored about them, and its erasure. */

import { recordOf as keyRecordOf, revokeKeysOf } from '../../accounts/keys/rules.ts'
import { orders as keyOrders, listKeys } from '../../accounts/keys/store.ts'
import { forgetAttempts } from '../../accounts/sessions/attempts.ts'
import { devicesTable, sessionsTable } from '../../accounts/sessions/table.ts'
import { erasedAddress } from '../../accounts/users/erased.ts'
import { refuseLastAdministrator, recordOf as userRecordOf } from '../../accounts/users/rules.ts'
import {
  findUser,
  findUserRow,
  lockUser,
  loginExists,
  type User,
  updateUser,
} from '../../accounts/users/store.ts'
import { usersTable } from '../../accounts/users/table.ts'
import { Failure, invalidArguments } from '../../base/errors.ts'
import { jsonLine } from '../../base/json.ts'
import type { Settings } from '../../base/settings.ts'
import { foldAccents, foldCase } from '../../base/text.ts'
import { formatTime, now } from '../../base/time.ts'
import { deletedAmong } from '../../events/read.ts'
import { entriesOfPerson, eraseEntriesOf } from '../../events/store.ts'
import { type Context, type RequestContext, write } from '../../events/write.ts'
import { customer } from '../../programme/customers/customer.ts'
import { customers } from '../../programme/customers/store.ts'
import { noteErased } from '../../programme/runs/erased-store.ts'
import type { Feature } from '../../records/feature.ts'
import { isAlready } from '../../records/rules.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { wholeList } from '../../storage/page.ts'
import type { Schema, Table } from '../../storage/table.ts'
import { recordOf as entryRecordOf } from '../audit/rules.ts'
import { eraseAnswersAbout } from './answers.ts'
import * as store from './store.ts'

/** Everything that is stored about a person and what they did, but no secrets: a line with a JSON object, in parts. */
export async function* exportPerson(
  { database, settings }: Context,
  features: readonly Feature[],
  userId: number,
): AsyncGenerator<string> {
  const { reader, schema } = database
  const user = await findUserRow(reader, userId)
  if (!user) throw new Failure('no_user')
  const person = await store.personOf(reader, schema, usersTable, userId)
  const { affiliates, ...records } = recordsAbout(reader, features, person, await settings.current())
  const [affiliate = null] = (await affiliates!.next()).value ?? []
  const spans = async (table: Table) => (await store.rowsAbout<Span>(reader, table, person)).map(spanOf)
  const keys = await listKeys(reader, { userIds: [userId] }, wholeList(keyOrders.id!))
  yield* jsonLine({
    account: userRecordOf(user),
    affiliate,
    ...records,
    keys: keys.map(keyRecordOf),
    sessions: await spans(sessionsTable),
    devices: await spans(devicesTable),
    audit: recordsOf(entriesOfPerson(reader, userId), entryRecordOf),
  })
}

/** The records of each kind that are about a person, by table. */
function recordsAbout(
  db: Db,
  features: readonly Feature[],
  person: store.Person,
  settings: Settings,
): Record<string, Records> {
  const records: Record<string, Records> = {}
  for (const { kind } of features) {
    const rows = store.pagesAbout<never>(db, kind.table, person)
    records[kind.table.name] = recordsOf(rows, row => kind.logged(row, settings))
  }
  return records
}

type Records = AsyncGenerator<object[], void>

async function* recordsOf<R>(pages: AsyncIterable<R[]>, recordOf: (row: R) => object): Records {
  for await (const page of pages) yield page.map(recordOf)
}

interface Span {
  readonly created_at: number
  readonly expires_at: number
}

const spanOf = ({ created_at, expires_at }: Span) => ({
  created: formatTime(created_at),
  expires: formatTime(expires_at),
})

/**
 * Replaces personal data, here and in the audit log, ends the account's sessions and revokes its
 * keys. Affiliate and payouts stay: they are about money. Of an erased account it erases what was entered since; where
 * that is nothing, there is no event.
 * @throws Failure no_user, last_administrator
 */
export async function erasePerson(
  context: RequestContext,
  userId: number,
): Promise<{ readonly user: User; readonly revokedKeys: number }> {
  return write(context, async tx => {
    const user = await lockUser(tx, userId)
    if (!user) throw new Failure('no_user')
    await refuseLastAdministrator(tx, user)
    const isEmptied = await emptyAccount(tx, user)
    const { schema } = context.database
    const person = await store.personOf(tx, schema, usersTable, userId)
    const isAnyErased = await eraseAll(
      tx,
      schema.filter(table => table !== usersTable),
      person,
    )
    await noteErased(tx, person.get('affiliates') ?? [])
    await forgetAttempts(tx, user)
    await eraseAnswersAbout(tx, schema, person)
    const revokedKeys = await revokeKeysOf(tx, userId)
    if (isEmptied || isAnyErased || revokedKeys > 0) tx.log('user.erase', userId)
    return { user: (await findUser(tx, userId))!, revokedKeys }
  })
}

/** @returns whether anything was left to empty in the account itself */
async function emptyAccount(tx: Tx, user: User): Promise<boolean> {
  const login = await freeName(tx, user)
  const email = erasedAddress(login)
  const emptied = {
    login,
    login_key: foldCase(login),
    email,
    email_key: foldCase(email),
    first_name: '',
    last_name: '',
    display_name: login,
    display_name_key: foldAccents(login),
    role: '' as const,
    password_hash: '',
  }
  if (isAlready(user, emptied)) return false
  await updateUser(tx, user.id, { ...emptied, updated_at: now() })
  return true
}

/**
 * The same by somebody who is logged in, who would be left without an account by erasing their own.
 * @throws Failure no_user, last_administrator, invalid_argument
 */
export async function eraseAnother(context: RequestContext, userId: number): Promise<void> {
  if (context.actor.userId === userId) {
    throw invalidArguments({ user_id: 'is your own account: another administrator can erase it.' })
  }
  await erasePerson(context, userId)
}

/**
 * Erases a customer without an account; one with an account is erased with it. Conversions and referrals stay.
 * @throws Failure no_customer
 */
export async function eraseCustomer(context: RequestContext, id: number): Promise<void> {
  await write(context, async tx => {
    await customers.lock(tx, id)
    const { user_id } = await customerIn(tx, id)
    if (user_id !== null) {
      throw invalidArguments({
        customer: `must have no account: erase account ${user_id}, and the customer with it.`,
      })
    }
    const { schema } = context.database
    const person = new Map([[customer.table.name, [id]]])
    await eraseAll(tx, schema, person)
    await eraseAnswersAbout(tx, schema, person)
    tx.log('customer.erase', id)
  })
}

/** A customer, or what the log tells of one who was deleted: conversions may still name them. @throws Failure no_customer */
export async function customerIn(
  db: Db,
  id: number,
): Promise<{ readonly user_id: number | null; readonly email: string }> {
  const row = await customers.find(db, id)
  if (row) return row
  const deleted = (await deletedAmong(db, customer.name, [id])).get(id)
  if (!deleted) throw new Failure('no_customer')
  return { user_id: deleted.personId, email: String(deleted.values.email ?? '') }
}

/** The same about a customer without an account. @throws Failure no_customer */
export async function* exportCustomer(
  { database, settings }: Context,
  features: readonly Feature[],
  id: number,
): AsyncGenerator<string> {
  await customerIn(database.reader, id)
  const person = new Map([[customer.table.name, [id]]])
  yield* jsonLine(recordsAbout(database.reader, features, person, await settings.current()))
}

/**
 * Empties personal columns in every table, and personal values in the log of the rows that stand for the person; then
 * removes the rows of tables that keep none of an erased person.
 * @returns whether there was anything to empty
 */
async function eraseAll(tx: Tx, schema: Schema, person: store.Person): Promise<boolean> {
  let isAnyErased = false
  for (const table of schema) {
    if (await store.eraseAbout(tx, table, person, now())) isAnyErased = true
    if (table.removedWithPerson) await store.removeAbout(tx, table, person)
    const ids = person.get(table.name)
    if (table.logged && ids && (await eraseEntriesOf(tx, table.logged.kind, ids))) isAnyErased = true
  }
  return isAnyErased
}

/** A name for an erased account; the plain one may be taken. One that is erased already keeps its name. */
async function freeName(db: Db, { id, login }: User): Promise<string> {
  const plain = `erased-${id}`
  if (new RegExp(`^${plain}(-x)*$`).test(login)) return login
  for (let name = plain; ; name += '-x') if (!(await loginExists(db, foldCase(name)))) return name
}

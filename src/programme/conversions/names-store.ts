/** The queries of the names of payments. */
import { randomUUID } from 'node:crypto'
import { type Insertable, sql } from 'kysely'
import { type Db, LostRace, type Tx } from '../../storage/database.ts'
import { insertMany } from '../../storage/insert-many.ts'
import { directRun, prepared } from '../../storage/prepared.ts'
import type { Tables } from '../../storage/tables.ts'

/** Names of payments, which a shop gives them. */
export interface Names {
  readonly context: string
  readonly names: readonly string[]
}

/** A name that is to be kept, under a payment of its own unless it is known. */
type NewName = Insertable<Tables['payment_names']>

const kept = prepared((tx: Db, { context, name }: Pick<NewName, 'context' | 'name'>) =>
  tx.selectFrom('payment_names').selectAll().where('context', '=', context).where('name', '=', name),
)

/** Waits for those who insert the same names, and locks none that it finds. */
const insertion = prepared((tx: Db, { rows }: { rows: string }) =>
  tx
    .insertInto('payment_names')
    .columns(['context', 'name', 'payment_id'])
    .expression(
      sql`SELECT context, name, payment_id FROM json_populate_recordset(NULL::payment_names, ${rows}::json)`,
    )
    .onConflict(conflict => conflict.doNothing()),
)

/**
 * Locks every name of the payments that some names belong to, in a fixed order. It selects by name, because names never
 * change; the payment of a name may change while this waits for the lock, and a row selected by payment would then be left out.
 */
const lockingAll = prepared((tx: Db, { rows }: { rows: string }) =>
  tx
    .selectFrom('payment_names')
    .select(['context', 'name', 'payment_id'])
    .where(
      sql<boolean>`(context, name) IN (SELECT other.context, other.name
        FROM json_populate_recordset(NULL::payment_names, ${rows}::json) AS sent
        JOIN payment_names AS own ON own.context = sent.context AND own.name = sent.name
        JOIN payment_names AS other ON other.payment_id = own.payment_id)`,
    )
    .orderBy('context')
    .orderBy('name')
    .forUpdate(),
)

const keyOf = ({ context, name }: { context: string; name: string }) => `${context}\n${name}`

/**
 * Keeps names of payments; nobody else reports anything of these until the transaction ends.
 * @param rows each name once
 * @returns the payments that they are names of
 * @throws LostRace if a name was removed meanwhile
 */
export async function keepNames(tx: Tx, rows: readonly NewName[]): Promise<NewName[]> {
  // In order, so that two transactions with the same names wait for one another only once.
  const sorted = rows.toSorted((a, b) => (keyOf(a) < keyOf(b) ? -1 : 1))
  // An embedded database has only one writer. RETURNING would take it longer than asking again.
  if (directRun(tx)) {
    await insertMany(tx, { table: 'payment_names', ending: 'ON CONFLICT (context, name) DO NOTHING' }, sorted)
    const all: NewName[] = []
    for (const row of sorted) all.push(...(await kept(tx, row)))
    return all
  }
  // Inserts before it locks: who waits to insert then holds nothing that others wait to lock, so nobody waits in a circle.
  // All names of their payments: reports of one payment under different names would each wait for the other's.
  const sent = JSON.stringify(sorted)
  await insertion.later(tx, { rows: sent })
  const locked = new Map((await lockingAll(tx, { rows: sent })).map(row => [keyOf(row), row]))
  return sorted.map(row => locked.get(keyOf(row)) ?? lost())
}

function lost(): never {
  throw new LostRace()
}

const removing = prepared((tx: Db, { id }: { id: string }) =>
  tx.deleteFrom('payment_names').where('payment_id', '=', id),
)

/**
 * Locks the names until the transaction ends, so that nobody else reports anything of them meanwhile. Unknown names are
 * locked as well, but not kept.
 */
export async function lockNames(tx: Tx, all: readonly Names[]): Promise<void> {
  const rows = new Map<string, NewName>()
  const payment_id = newPaymentId()
  for (const { context, names } of all) {
    for (const name of names) rows.set(`${context}\n${name}`, { context, name, payment_id })
  }
  await keepNames(tx, [...rows.values()])
  await removing(tx, { id: payment_id })
}

const free = prepared((tx: Db, { ids }: { ids: readonly string[] }) =>
  tx
    .selectFrom('payment_names')
    .select('name')
    .select(query =>
      query
        .selectFrom('payment_names as one')
        .select(({ fn }) => fn.countAll<number>().as('count'))
        .where('one.payment_id', 'in', ids)
        .as('count'),
    )
    .where('payment_id', 'in', ids)
    .orderBy('name')
    .forUpdate()
    .skipLocked(),
)

/**
 * Locks all names of payments, of which this transaction has some.
 * @returns how many there are
 * @throws LostRace if another report has some of them, which may wait for those of this one
 */
async function lockNamesOf(tx: Tx, ids: readonly string[]): Promise<number> {
  const rows = await free(tx, { ids })
  if (rows.length !== (rows[0]?.count ?? 0)) throw new LostRace()
  return rows.length
}

const joining = prepared((tx: Db, { ids, id }: { ids: readonly string[]; id: string }) =>
  tx
    .updateTable('payment_names')
    .set({ payment_id: id })
    .where('payment_id', 'in', ids)
    .returning('payment_id'),
)

/** In order of time, so that new payments stand side by side in the index and share its pages. */
export const newPaymentId = () => Date.now().toString(36).padStart(9, '0') + randomUUID().slice(-12)

interface Named {
  /** Undefined when none of the names was known. */
  readonly id: string | undefined
  /** What were payments of their own, and are parts of it from now on. */
  readonly others: readonly string[]
  /** How many names it has now. */
  readonly count: number
  /** Whether it had fewer before. */
  readonly isLonger: boolean
}

/**
 * The payment that has any of these names. From now on it has all of them: two payments that share a name are one. It
 * is locked against other reports until the transaction ends.
 */
export async function namePayment(tx: Tx, { context, names }: Names): Promise<Named> {
  const newId = newPaymentId()
  const rows = [...new Set(names)].map(name => ({ context, name, payment_id: newId }))
  const ids = [...new Set((await keepNames(tx, rows)).map(row => row.payment_id))].sort()
  const [id] = ids.filter(paymentId => paymentId !== newId)
  if (id === undefined) return { id, others: [], count: rows.length, isLonger: true }
  const count = await lockNamesOf(tx, ids)
  const others = ids.filter(paymentId => paymentId !== id && paymentId !== newId)
  const joined = ids.filter(paymentId => paymentId !== id)
  // Another transaction may have added a name while this one waited.
  while (joined.length > 0 && (await joining(tx, { ids: joined, id })).length > 0);
  return { id, others, count, isLonger: ids.length > 1 }
}

const named = prepared((db: Db, { context, names }: Names) =>
  db
    .selectFrom('payment_names')
    .select('payment_id')
    .distinct()
    .where('context', '=', context)
    .where('name', 'in', names)
    .orderBy('payment_id'),
)

/** The payments that have any of these names. */
export async function paymentsNamed(db: Db, { context, names }: Names): Promise<string[]> {
  const rows = await named(db, { context, names: [...new Set(names)] })
  return rows.map(row => row.payment_id)
}

const naming = prepared((tx: Db, { context, names }: Names) =>
  tx
    .selectFrom('payment_names')
    .select(['name', 'payment_id'])
    .where('context', '=', context)
    .where('name', 'in', names)
    .orderBy('name')
    .forUpdate(),
)

/** The payment that has those of these names that are known, locked as by `namePayment`; undefined where it is not one. */
export async function lockNamed(
  tx: Tx,
  { context, names }: Names,
): Promise<(Names & { id: string }) | undefined> {
  const rows = await naming(tx, { context, names: [...new Set(names)] })
  const ids = [...new Set(rows.map(row => row.payment_id))]
  const [id] = ids
  if (id === undefined || ids.length > 1) return undefined
  await lockNamesOf(tx, ids)
  return { context, names: rows.map(({ name }) => name), id }
}

/** The names that conversions give their payments, of those after an identifier. */
export async function namesAfter(db: Db, after: number, limit: number): Promise<(Names & { id: number })[]> {
  const rows = await db
    .selectFrom('conversions')
    .select(['id', 'context', 'reference', 'aliases'])
    .where('id', '>', after)
    .orderBy('id')
    .limit(limit)
    .execute()
  return rows.map(({ id, context, reference, aliases }) => {
    const others: string[] = aliases === '' ? [] : JSON.parse(aliases)
    return { id, context, names: [reference, ...others] }
  })
}

/** The payment of each of these names that has one. */
export async function paymentByName(db: Db, { context, names }: Names): Promise<Map<string, string>> {
  const rows = await db
    .selectFrom('payment_names')
    .select(['name', 'payment_id'])
    .where('context', '=', context)
    .where('name', 'in', names)
    .execute()
  return new Map(rows.map(row => [row.name, row.payment_id]))
}

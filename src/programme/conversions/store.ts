/** Queries on conversions: a payment by its names, and the candidates. */
import { type Insertable, sql } from 'kysely'
import { storeOf } from '../../records/store.ts'
import { containing } from '../../storage/containing.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { insertLater } from '../../storage/insert-many.ts'
import { prepared } from '../../storage/prepared.ts'
import type { Tables } from '../../storage/tables.ts'
import type { Terms } from '../affiliates/store.ts'
import type { Referral } from '../referrals/referral.ts'
import type { Claimant } from './attribution.ts'
import { type Conversion, conversion } from './conversion.ts'

/** A list in JSON, without what is around its texts. */
const otherNames = sql`lower(replace(replace(replace(conversions.aliases, '["', ''), '","', ' '), '"]', ''))`

export const conversions = storeOf(conversion, {
  search: search =>
    containing([sql.ref('conversions.reference_key'), otherNames], search, sql.ref('conversions.id')),
})

type NewConversion = Insertable<Tables['conversions']>

const members = prepared((db: Db, { id, limit }: { id: string; limit: number }) =>
  db
    .selectFrom('payment_names')
    .innerJoin('conversions', join =>
      join
        .onRef('conversions.reference', '=', 'payment_names.name')
        .onRef('conversions.context', '=', 'payment_names.context'),
    )
    .selectAll('conversions')
    .where('payment_names.payment_id', '=', id)
    .orderBy('conversions.id')
    .limit(limit),
)

/** All conversions of a payment, in order. */
export async function membersOf(db: Db, id: string, limit: number): Promise<Conversion[]> {
  return members(db, { id, limit })
}

/**
 * What can happen to a conversion once: it is credited, emptied of what is personal. Some values of a column, and whether that
 * has happened where it has one of these.
 */
const marks: readonly Mark[] = [
  { column: 'affiliate_id', values: [0], hasHappened: false },
  { column: 'customer', values: [''], hasHappened: true },
  { column: 'metadata', values: [''], hasHappened: true },
]

interface Mark {
  readonly column: keyof Conversion
  readonly values: readonly (string | number | null)[]
  readonly hasHappened: boolean
}

/**
 * A number of a payment that is higher after whatever can happen to its conversions: one is reported or joined to it, gets
 * another mark, or more candidates.
 */
export const versionOf = (members: readonly Conversion[]): number =>
  members.reduce(
    (sum, member) => sum + 1 + member.candidates.length + marks.filter(mark => isSet(mark, member)).length,
    0,
  )

const isSet = ({ column, values, hasHappened }: Mark, member: Conversion) =>
  values.includes(member[column]) === hasHappened

/** 1 where it is set, else 0. */
const setIn = ({ column, values, hasHappened }: Mark) =>
  sql`CASE WHEN ${sql.ref(`conversions.${column}`)} IN (${sql.join(values.map(value => sql.lit(value)))})
    THEN ${sql.lit(Number(hasHappened))} ELSE ${sql.lit(Number(!hasHappened))} END`

const version = prepared((db: Db, { id }: { id: string }) =>
  db
    .selectFrom('payment_names')
    .innerJoin('conversions', join =>
      join
        .onRef('conversions.reference', '=', 'payment_names.name')
        .onRef('conversions.context', '=', 'payment_names.context'),
    )
    .select(
      sql<
        number | null
      >`sum(1 + length(conversions.candidates) + ${sql.join(marks.map(setIn), sql` + `)})`.as('version'),
    )
    .where('payment_names.payment_id', '=', id),
)

/** The version of a payment as it is stored. */
export async function readVersion(db: Db, id: string): Promise<number> {
  return (await version(db, { id }))[0]?.version ?? 0
}

const insertion = prepared((tx: Db, row: NewConversion) =>
  tx.insertInto('conversions').values(row).returning('id'),
)

/** Inserts a conversion, at the end of the part where a request has many lines. @returns the row with its identifier */
export async function insert(tx: Tx, row: Omit<Conversion, 'id'>): Promise<Conversion> {
  const waiting = insertLater(tx, 'conversions', row)
  if (waiting) return waiting
  const [inserted] = await insertion(tx, row)
  return { ...row, ...inserted! }
}

const crediting = prepared(
  (tx: Db, { ids, affiliateId, time }: { ids: readonly number[]; affiliateId: number; time: number }) =>
    tx
      .updateTable('conversions')
      .set({ affiliate_id: affiliateId, updated_at: time })
      .where('id', 'in', ids)
      .where('affiliate_id', '=', sql.lit(0)),
)

/** Credits unattributed conversions. */
export async function credit(
  tx: Tx,
  ids: readonly number[],
  affiliateId: number,
  time: number,
): Promise<void> {
  await crediting(tx, { ids, affiliateId, time })
}

const keeping = prepared((tx: Db, { id, candidates }: { id: number; candidates: string }) =>
  tx.updateTable('conversions').set({ candidates }).where('id', '=', id),
)

/** Keeps who else came into question only with a later report. */
export async function keepCandidates(tx: Tx, id: number, candidates: string): Promise<void> {
  await keeping(tx, { id, candidates })
}

const claimantsAmong = (db: Db, ids: readonly number[]) =>
  db
    .selectFrom('affiliates')
    .innerJoin('users', 'users.id', 'affiliates.user_id')
    .select([
      'affiliates.id',
      'affiliates.user_id',
      'affiliates.status',
      'affiliates.payment_email_key',
      'users.email_key',
      'affiliates.rate',
      'affiliates.rate_type',
      'affiliates.group_id',
    ])
    .where('affiliates.id', 'in', ids)

const claimants = prepared((tx: Db, { ids }: { ids: readonly number[] }) =>
  claimantsAmong(tx, ids).forKeyShare('affiliates'),
)

/** Those that exist, for what only explains. */
export async function claimantsNow(db: Db, ids: readonly number[]): Promise<Map<number, Claimant>> {
  const rows: Claimant[] = await claimantsAmong(db, ids).execute()
  return new Map(rows.map(row => [row.id, row]))
}

/** A candidate for credit, with the terms of commission. */
export type Earning = Claimant & Terms

/** The affiliates that exist; they cannot be deleted until the transaction ends. */
export async function claimantsOf(tx: Tx, ids: readonly number[]): Promise<Map<number, Earning>> {
  const affiliateIds = [...new Set(ids)].filter(id => id !== 0)
  if (affiliateIds.length === 0) return new Map()
  const rows: Earning[] = await claimants(tx, { ids: affiliateIds })
  return new Map(rows.map(row => [row.id, row]))
}

const visit = prepared((db: Db, { id }: { id: number }) =>
  db.selectFrom('visits').select(['affiliate_id', 'created_at', 'campaign']).where('id', '=', id),
)

/** The visit that a sale names; undefined if there is none. */
export async function visitOf(db: Db, id: number) {
  return (await visit(db, { id }))[0]
}

type Order = Pick<Conversion, 'id' | 'customer_id' | 'occurred_at' | 'context' | 'reference'>

const bought = prepared((db: Db, { customer_id, occurred_at, id, context, reference }: Order) =>
  db
    .selectFrom('conversions')
    .innerJoin('payment_names', join =>
      join
        .onRef('payment_names.name', '=', 'conversions.reference')
        .onRef('payment_names.context', '=', 'conversions.context'),
    )
    .select(({ fn }) => [
      fn.count<number>('payment_names.payment_id').distinct().as('orders'),
      fn.min('conversions.occurred_at').as('first'),
    ])
    .where('conversions.customer_id', '=', customer_id)
    .where('conversions.customer_id', '<>', sql.lit(0))
    .where('conversions.occurred_at', '<=', occurred_at)
    .where(({ or, eb }) =>
      or([eb('conversions.occurred_at', '<', occurred_at), eb('conversions.id', '<', id)]),
    )
    .where('conversions.kind', 'in', [sql.lit('sale' as const), sql.lit('renewal' as const)])
    .where('payment_names.payment_id', '<>', ({ selectFrom }) =>
      selectFrom('payment_names as own')
        .select('own.payment_id')
        .where('own.context', '=', context)
        .where('own.name', '=', reference),
    ),
)

/** Number of a customer's earlier orders, and the time of the first: a payment that was reported twice is one. */
export async function historyOf(
  db: Db,
  { customer_id, occurred_at, id, context, reference }: Order,
): Promise<{ readonly orders: number; readonly first: number | null }> {
  return (await bought(db, { customer_id, occurred_at, id, context, reference }))[0]!
}

const referralsOfPayment = (db: Db, id: string) =>
  db
    .selectFrom('referrals')
    .selectAll()
    .where('conversion_id', 'in', ({ selectFrom }) =>
      selectFrom('payment_names')
        .innerJoin('conversions', join =>
          join
            .onRef('conversions.reference', '=', 'payment_names.name')
            .onRef('conversions.context', '=', 'payment_names.context'),
        )
        .select('conversions.id')
        .where('payment_names.payment_id', '=', id),
    )
    .where('conversion_id', '<>', sql.lit(0))
    .orderBy('id')

const locked = prepared((tx: Db, { id }: { id: string }) => referralsOfPayment(tx, id).forUpdate())

const unlocked = prepared((db: Db, { id }: { id: string }) => referralsOfPayment(db, id))

const namingOf = prepared((tx: Db, { id }: { id: number }) =>
  tx
    .selectFrom('payment_names')
    .select('name')
    .where(
      sql<boolean>`(context, name) IN (SELECT conversions.context, conversions.reference
        FROM referrals JOIN conversions ON conversions.id = referrals.conversion_id
        WHERE referrals.id = ${id} AND referrals.parent_id = 0)`,
    )
    .forUpdate(),
)

/**
 * Locks the payment of a sale's referral until the transaction ends, before the referral, as reports do: one that waited for the
 * referral would not see what is recorded below it meanwhile.
 */
export async function lockNamesOfReferral(tx: Tx, id: number): Promise<void> {
  await namingOf(tx, { id })
}

/** The referrals of a payment, locked until the transaction ends. */
export async function lockReferralsOf(tx: Tx, id: string): Promise<Referral[]> {
  return locked(tx, { id })
}

/** The referrals of a payment, refunds included, without locking them. @param id of the payment */
export async function referralsOf(db: Db, id: string): Promise<Referral[]> {
  return unlocked(db, { id })
}

const conversionRow = prepared((db: Db, { id }: { id: number }) =>
  db.selectFrom('conversions').selectAll().where('id', '=', id),
)

/** A conversion with the columns that its record does not show. */
export async function conversionById(db: Db, id: number): Promise<Conversion | undefined> {
  return (await conversionRow(db, { id }))[0]
}

const reversals = prepared((db: Db, { after, limit }: { after: number; limit: number }) =>
  db
    .selectFrom('conversions')
    .innerJoin('payment_names', join =>
      join
        .onRef('payment_names.name', '=', 'conversions.reference')
        .onRef('payment_names.context', '=', 'conversions.context'),
    )
    .select(['conversions.id', 'payment_names.payment_id'])
    .where('conversions.id', '>', after)
    .where('conversions.kind', 'in', [sql.lit('refund' as const), sql.lit('dispute' as const)])
    .orderBy('conversions.id')
    .limit(limit),
)

/** Refunds and disputes after an identifier, each with its payment. */
export async function reversalsAfter(db: Db, after: number, limit: number) {
  return reversals(db, { after, limit })
}

/** Visits and payouts that belong to a payment; they are few. */
export async function relatedOf(db: Db, visitIds: readonly number[], payoutIds: readonly number[]) {
  const visits = db.selectFrom('visits').select(['id', 'affiliate_id', 'created_at'])
  const payouts = db.selectFrom('payouts').select(['id', 'status', 'amount', 'created_at'])
  return {
    visits: visitIds.length === 0 ? [] : await visits.where('id', 'in', visitIds).execute(),
    payouts: payoutIds.length === 0 ? [] : await payouts.where('id', 'in', payoutIds).execute(),
  }
}

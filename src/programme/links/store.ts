/** The queries that only links have: by code together with the affiliate, and for new affiliates. */
import { sql } from 'kysely'
import { foldCase } from '../../base/text.ts'
import { storeOf } from '../../records/store.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { insertManyUnawaited } from '../../storage/insert-many.ts'
import { prepared } from '../../storage/prepared.ts'
import { link } from './link.ts'

export const links = storeOf(link)

/** A link that a visitor has followed. */
export interface FollowedLink {
  /** 0 when the address named the affiliate instead of a link. */
  readonly id: number
  readonly affiliate_id: number
  readonly destination: string
  readonly campaign: string
}

const byCode = prepared((db: Db, { code }: { code: string }) =>
  db
    .selectFrom('links')
    .leftJoin('affiliates', 'affiliates.id', 'links.affiliate_id')
    .select(['links.id', 'links.affiliate_id', 'links.destination', 'links.campaign', 'affiliates.status'])
    .where('links.code_key', '=', code),
)

/** With the status of its affiliate, or null when that was deleted. */
export async function findByCode(db: Db, code: string) {
  return (await byCode(db, { code: foldCase(code) }))[0]
}

const activeById = prepared((db: Db, { id }: { id: number }) =>
  db.selectFrom('affiliates').select('id').where('id', '=', id).where('status', '=', sql.lit('active')),
)

const activeByLogin = prepared((db: Db, { login }: { login: string }) =>
  db
    .selectFrom('affiliates')
    .innerJoin('users', 'users.id', 'affiliates.user_id')
    .select('affiliates.id')
    .where('users.login_key', '=', login)
    .where('affiliates.status', '=', sql.lit('active')),
)

/** An active affiliate, by identifier or else by the login of the account. */
export async function findActiveAffiliate(db: Db, name: string): Promise<number | undefined> {
  const [row] = /^\d{1,15}$/.test(name) ? await activeById(db, { id: Number(name) }) : []
  return (row ?? (await activeByLogin(db, { login: foldCase(name) }))[0])?.id
}

interface NewAffiliate {
  readonly id: number
  readonly user_id: number
  readonly registered_at: number
}

/** The link that leads to the programme page: its code is the identifier of the affiliate. */
const defaultLink = ({ id, user_id, registered_at }: NewAffiliate) => ({
  affiliate_id: id,
  code: String(id),
  code_key: String(id),
  destination: '',
  campaign: '',
  visits: 0,
  created_at: registered_at,
  owner: user_id,
  updated_at: registered_at,
})

const linkInsertion = prepared((tx: Db, row: ReturnType<typeof defaultLink>) =>
  tx.insertInto('links').values(row),
)

export async function addDefaultLink(tx: Tx, affiliate: NewAffiliate): Promise<void> {
  await linkInsertion.later(tx, defaultLink(affiliate))
}

export async function addDefaultLinks(tx: Tx, affiliates: readonly NewAffiliate[]): Promise<void> {
  await insertManyUnawaited(tx, { table: 'links' }, affiliates.map(defaultLink))
}

const addition = prepared((tx: Db, { id, visits }: { id: number; visits: number }) =>
  tx
    .updateTable('links')
    .set({ visits: sql<number>`visits + ${visits}` })
    .where('id', '=', id),
)

export async function addVisits(tx: Tx, id: number, visits: number): Promise<void> {
  await addition.later(tx, { id, visits })
}

/** Default links of other affiliates than their code says. */
export async function foreignDefaults(db: Db) {
  return db
    .selectFrom('links')
    .select(['id', 'code', 'affiliate_id'])
    .where('code_key', '>=', '0')
    .where('code_key', '<', ':')
    .where(sql<boolean>`code_key <> cast(affiliate_id as text)`)
    .orderBy('id')
    .limit(1000)
    .execute()
}

/** Rules for affiliates. */

import { linkedAccountOf } from '../../accounts/users/extra.ts'
import {
  type Account,
  addAccount,
  addAccounts,
  changeEmail,
  loginProblem,
} from '../../accounts/users/rules.ts'
import { userExists, usersAmong } from '../../accounts/users/store.ts'
import { byName } from '../../base/by-name.ts'
import {
  Failure,
  invalidArguments,
  missingArguments,
  type Problems,
  refusalsOf,
  refuseInvalid,
} from '../../base/errors.ts'
import { formatRate } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import { type Context, type RequestContext, write } from '../../events/write.ts'
import { criteriaOf, existing, isAlready, readingOf } from '../../records/rules.ts'
import { noSuch } from '../../records/store.ts'
import { type Db, ReferenceViolation, type Tx, UniqueViolation } from '../../storage/database.ts'
import type { Page } from '../../storage/page.ts'
import { markAddressChanged } from '../details/store.ts'
import { groups } from '../groups/store.ts'
import { addDefaultLink, addDefaultLinks } from '../links/store.ts'
import { rejudgeDraftsOf } from '../referrals/drafts.ts'
import { type Affiliate, affiliate, statuses } from './affiliate.ts'
import type { AffiliateExtras, AffiliateTotals, CreateArguments, EditArguments } from './schema.ts'
import * as store from './store.ts'

export type { AffiliateRow } from './store.ts'

/** Optional parts of a record. */
export interface Extras {
  user?: boolean
  effective?: boolean
  group?: boolean
}

const reading = readingOf(affiliate, store.affiliates)

export const { orders, count } = reading

export const bulkKind = { ...affiliate, reading, store: store.affiliates }

/** @throws Failure missing_user, already_affiliate, email_taken, login_taken, … */
export async function create(context: RequestContext, args: CreateArguments): Promise<Affiliate> {
  refuseIncomplete(args)
  const settings = await context.settings.current()
  return write(context, async tx => {
    refuseInvalid(await problemsOfCreate(tx, settings, args))
    // Independent of each other, so they are sent together.
    const [account, id] = await Promise.all([
      args.create_user ? addAccount(tx, accountIn(args)) : undefined,
      context.database.engine.reserveAhead(tx, affiliate.table.name),
    ])
    const origin = { time: now(), actor: context.actor.userId }
    const row = affiliate.newRow({ ...args, user_id: account?.id ?? args.user_id! }, settings, origin)
    const created = await store.affiliates.insert(tx, { ...row, id }, refuseConflict)
    await addDefaultLink(tx, created)
    tx.log('affiliate.create', created.id, { after: loggedWith(created, account, settings) })
    return created
  })
}

/** Creates many; one that cannot be created yields its failure. */
export async function createMany(
  context: RequestContext,
  argsOfAll: readonly CreateArguments[],
): Promise<(Affiliate | Failure)[]> {
  const settings = await context.settings.current()
  return write(context, async tx => {
    const outcomes = new Map<CreateArguments, Affiliate | Failure>(
      await refusalsAmong(tx, settings, argsOfAll),
    )
    const accounts = await accountsFor(
      tx,
      argsOfAll.filter(args => args.create_user && !outcomes.has(args)),
    )
    for (const [args, account] of accounts) if (account instanceof Failure) outcomes.set(args, account)
    const accountOf = (args: CreateArguments) => {
      const account = accounts.get(args)
      return account instanceof Failure ? undefined : account
    }
    const accepted = argsOfAll.filter(args => !outcomes.has(args))
    const origin = { time: now(), actor: context.actor.userId }
    const rows = accepted.map(args => {
      const account = accountOf(args)
      return affiliate.newRow({ ...args, user_id: account?.id ?? args.user_id! }, settings, origin)
    })
    const ids = await store.affiliates.insertMany(tx, rows)
    const created = rows.map((row, place) => ({ ...row, id: ids[place]! }))
    await addDefaultLinks(tx, created)
    for (const [place, args] of accepted.entries()) {
      const row = created[place]!
      outcomes.set(args, row)
      const account = accountOf(args)
      tx.log('affiliate.create', row.id, { after: loggedWith(row, account, settings) })
    }
    return argsOfAll.map(args => outcomes.get(args)!)
  })
}

/** Failures that are known before any account is created. */
async function refusalsAmong(
  tx: Tx,
  settings: Settings,
  argsOfAll: readonly CreateArguments[],
): Promise<[CreateArguments, Failure][]> {
  const linkedIds = argsOfAll.flatMap(({ create_user, user_id }) =>
    create_user || user_id === undefined ? [] : [user_id],
  )
  const existing = {
    users: await usersAmong(tx, linkedIds),
    groups: await groups.thereAmong(
      tx,
      argsOfAll.flatMap(({ group_id }) => group_id || []),
    ),
  }
  const affiliates = await store.accountsAmong(tx, linkedIds)
  const judge = (args: CreateArguments) => {
    refuseIncomplete(args)
    refuseInvalid(problemsAmong(existing, settings, args))
    if (args.create_user) return
    if (affiliates.has(args.user_id!)) throw new Failure('already_affiliate')
    affiliates.add(args.user_id!)
  }
  return refusalsOf(argsOfAll, judge)
}

async function accountsFor(
  tx: Tx,
  argsOfAll: readonly CreateArguments[],
): Promise<Map<CreateArguments, Account | Failure>> {
  const results = await addAccounts(tx, argsOfAll.map(accountIn))
  return new Map(argsOfAll.map((args, place) => [args, results[place]!]))
}

/** @throws Failure missing_argument, missing_user */
function refuseIncomplete(args: CreateArguments): void {
  if (args.create_user && !args.payment_email) throw missingArguments(['payment_email'])
  if (!args.create_user && args.user_id === undefined) throw new Failure('missing_user')
}

const accountIn = ({ username, payment_email = '' }: CreateArguments) => ({
  login: username || undefined,
  email: payment_email,
})

/** The account's names are logged with the affiliate. */
const loggedWith = (row: Affiliate, account: { readonly login: string } | undefined, settings: Settings) => ({
  ...affiliate.logged(row, settings),
  ...(account && { account_login: account.login, account_email: row.payment_email }),
})

/**
 * Changes the given fields only.
 * @throws Failure no_affiliate, email_taken, invalid_argument, forbidden
 */
export async function edit(context: RequestContext, args: EditArguments): Promise<Affiliate> {
  const settings = await context.settings.current()
  const { affiliate_id: id, account_email } = args
  return write(context, async tx => {
    const before = existing(affiliate, await store.affiliates.lock(tx, id))
    refuseInvalid(await problemsOfEdit(tx, settings, args))
    const isReachedElsewhere =
      account_email !== undefined && (await changeEmail(tx, context, before.user_id, account_email))
    const change = affiliate.keep(args, settings)
    // Callers who mirror affiliates show the account's address with them.
    if (isAlready(before, change) && !isReachedElsewhere) return before
    const changes = { ...change, updated_at: now() }
    const after = await store.affiliates.update(tx, before, changes, refuseConflict)
    // Also if there was none before: payments then went to the account's address.
    if (after.payment_email !== before.payment_email) await markAddressChanged(tx, id, now())
    tx.log('affiliate.edit', id, {
      before: affiliate.logged(before, settings),
      after: affiliate.logged(after, settings),
    })
    const isRejudged =
      store.termColumns.some(name => after[name] !== before[name]) && (await rejudgeDraftsOf(tx, context, id))
    // With what drafts have come to.
    return isRejudged ? existing(affiliate, await store.affiliates.lock(tx, id)) : after
  })
}

/**
 * Deletes the affiliate. The account and the payouts stay.
 * @returns the affiliate as it was
 * @throws Failure no_affiliate
 */
export async function remove(context: RequestContext, id: number): Promise<Affiliate> {
  const settings = await context.settings.current()
  return write(context, async tx => {
    const before = existing(affiliate, await store.affiliates.lock(tx, id))
    await store.affiliates.remove(tx, id)
    tx.log('affiliate.delete', id, { before: affiliate.logged(before, settings) })
    return before
  })
}

/** @throws Failure no_affiliate */
export async function get(context: Context, id: number, extras: Extras): Promise<store.AffiliateRow> {
  return existing(affiliate, await store.findAffiliate(context.database.replica, id, needsMore(extras)))
}

/** Paid affiliates with their accounts; deleted ones are left out. */
export async function payeesOf(
  { database }: Context,
  ids: ReadonlySet<number>,
): Promise<Map<number, store.AffiliateRow>> {
  const rows = await store.findAffiliates(database.replica, [...ids])
  return new Map(rows.map(row => [row.id, row]))
}

export async function page(
  context: Context,
  args: object & Extras,
  page: Page,
): Promise<store.AffiliateRow[]> {
  const criteria = await criteriaOf(context, affiliate, store.affiliates, args, 'first')
  return store.listAffiliates(context.database.replica, criteria, page, needsMore(args))
}

/** @throws Failure no_affiliate */
export async function getNotes(context: Context, id: number): Promise<string> {
  return existing(affiliate, await store.findNotes(context.database.replica, id))
}

export async function totalAffiliates(context: Context, args: object): Promise<AffiliateTotals> {
  const criteria = await criteriaOf(context, affiliate, store.affiliates, args, 'all')
  const counts = await store.countByStatus(context.database.replica, criteria)
  const by_status = byName(statuses, status => counts.get(status) ?? 0)
  const count = [...counts.values()].reduce((sum, value) => sum + value, 0)
  return { count, by_status }
}

/** Validation of a create beyond the schemas. Arguments that were not sent are not checked. */
export async function problemsOfCreate(
  db: Db,
  settings: Settings,
  args: Partial<CreateArguments>,
): Promise<Problems> {
  const { user_id, group_id } = args
  const isUser = args.create_user || user_id === undefined || (await userExists(db, user_id))
  const isGroup = !group_id || (await groups.isThere(db, group_id))
  const existing = { users: new Set(isUser ? [user_id] : []), groups: new Set(isGroup ? [group_id] : []) }
  return problemsAmong(existing, settings, args)
}

/** @param existing the identifiers among the arguments that exist */
function problemsAmong(
  existing: { readonly users: ReadonlySet<unknown>; readonly groups: ReadonlySet<unknown> },
  settings: Settings,
  args: Partial<CreateArguments>,
): Problems {
  const { create_user, user_id, username, group_id } = args
  const problems = affiliate.problems(args, settings)
  const wrongLogin = create_user && username ? loginProblem(username) : undefined
  if (wrongLogin) problems.username = wrongLogin
  if (!create_user && user_id !== undefined && !existing.users.has(user_id)) {
    problems.user_id = noSuch('account')
  }
  if (group_id && !existing.groups.has(group_id)) problems.group_id = NO_GROUP
  return problems
}

const NO_GROUP = noSuch('group', { orNone: true })

/** The same for an edit. */
export async function problemsOfEdit(
  db: Db,
  settings: Settings,
  args: Partial<EditArguments>,
): Promise<Problems> {
  return { ...affiliate.problems(args, settings), ...(await problemOfGroup(db, args)) }
}

async function problemOfGroup(db: Db, { group_id: id }: { readonly group_id?: number }): Promise<Problems> {
  if (!id || (await groups.isThere(db, id))) return {}
  return { group_id: NO_GROUP }
}

/** The optional parts of a record. */
export function extrasOf(row: store.AffiliateRow, settings: Settings, extras: Extras): AffiliateExtras {
  return {
    ...(extras.user && {
      user: linkedAccountOf({
        id: row.user_id,
        login: row.account_login!,
        email: row.account_email!,
        display_name: row.account_display_name!,
        first_name: row.account_first_name!,
        last_name: row.account_last_name!,
        registered_at: row.account_registered_at!,
      }),
    }),
    ...(extras.effective && {
      effective: {
        rate: formatRate(row.rate ?? settings.defaultRate),
        rate_type: row.rate_type ?? settings.defaultRateType,
        payment_email: row.payment_email || row.account_email!,
      },
    }),
    ...(extras.group && { group: { group_id: row.group_id ?? 0, name: row.group_name ?? '' } }),
  }
}

/** Whether the record needs columns of other tables. */
export function needsMore({ user, effective, group }: Extras): boolean {
  return Boolean(user || effective || group)
}

/** Only the rate type can refer to what was removed a moment ago: account and group are locked. */
function refuseConflict(cause: unknown): never {
  if (cause instanceof UniqueViolation) throw new Failure('already_affiliate')
  if (!(cause instanceof ReferenceViolation)) throw cause
  throw invalidArguments({ rate_type: 'must be a configured rate type.' })
}

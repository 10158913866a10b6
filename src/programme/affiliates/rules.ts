/** What is true of affiliates. */

import { addAccount, changeEmail, loginProblem } from '../../accounts/users/rules.ts'
import { userExists } from '../../accounts/users/store.ts'
import {
  Failure,
  invalidArguments,
  missingArguments,
  type Problems,
  refuseInvalid,
} from '../../base/errors.ts'
import { formatRate, fromUnits, parseRate } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { foldCase, parseSearch } from '../../base/text.ts'
import { formatTime, now, parseMoment, parseSpan } from '../../base/time.ts'
import { type Context, type RequestContext, write } from '../../events/write.ts'
import { type Db, ReferenceViolation, UniqueViolation } from '../../storage/database.ts'
import type { Page } from '../../storage/page.ts'
import {
  type AffiliateRecord,
  type AffiliateTotals,
  type CreateArguments,
  type EditArguments,
  type FilterArguments,
  statuses,
} from './schema.ts'
import * as store from './store.ts'

/** Which parts a record shows beside its fields. */
export interface Extras {
  user?: boolean
  effective?: boolean
}

/** @throws Failure affiliate_exists, missing_user, already_affiliate, email_taken, login_taken, … */
export async function createAffiliate(
  context: RequestContext,
  args: CreateArguments,
): Promise<AffiliateRecord> {
  if (args.affiliate_id !== undefined || args.id !== undefined) throw new Failure('affiliate_exists')
  if (args.create_user && !args.payment_email) throw missingArguments(['payment_email'])
  if (!args.create_user && args.user_id === undefined) throw new Failure('missing_user')
  const settings = await context.settings.current()
  return write(context, async tx => {
    refuseInvalid(await problemsOfCreate(tx, settings, args))
    const paymentEmail = args.payment_email ?? ''
    const account = args.create_user
      ? await addAccount(tx, { login: args.username || undefined, email: paymentEmail })
      : undefined
    const time = now()
    const affiliate = await refuseConflict(() =>
      store.insertAffiliate(tx, {
        user_id: account?.id ?? args.user_id!,
        rate: parseRate(args.rate ?? ''),
        rate_type: args.rate_type || null,
        payment_email: paymentEmail,
        payment_email_key: foldCase(paymentEmail),
        status: args.status ?? 'pending',
        earnings: 0,
        unpaid_earnings: 0,
        referrals: 0,
        visits: 0,
        notes: args.notes ?? '',
        registered_at: time,
        updated_at: time,
      }),
    )
    tx.log('affiliate.create', affiliate.id, {
      after: {
        ...writtenOf(affiliate, settings),
        ...(account && { account_login: account.login, account_email: paymentEmail }),
      },
    })
    return recordOf(affiliate, settings)
  })
}

/**
 * Changes what was sent and leaves the rest.
 * @throws Failure no_affiliate, email_taken, invalid_argument
 */
export async function editAffiliate(context: RequestContext, args: EditArguments): Promise<AffiliateRecord> {
  const settings = await context.settings.current()
  const { affiliate_id: id, account_email, payment_email, rate, rate_type, status, notes } = args
  const affiliate = await write(context, async tx => {
    const before = found(await store.holdAffiliate(tx, id))
    refuseInvalid(problemsOfRate(settings, args))
    if (account_email !== undefined) await changeEmail(tx, before.user_id, account_email)
    const change = {
      ...(payment_email !== undefined && { payment_email, payment_email_key: foldCase(payment_email) }),
      ...(rate !== undefined && { rate: parseRate(rate) }),
      ...(rate_type !== undefined && { rate_type: rate_type || null }),
      ...(status !== undefined && { status }),
      ...(notes !== undefined && { notes }),
    }
    if (Object.keys(change).length === 0) return before
    const after = await refuseConflict(() => store.updateAffiliate(tx, id, { ...change, updated_at: now() }))
    tx.log('affiliate.edit', id, {
      before: writtenOf(before, settings),
      after: writtenOf(after, settings),
    })
    return after
  })
  return recordOf(affiliate, settings)
}

/**
 * The account stays, and so do the payouts.
 * @returns the record as it was
 * @throws Failure no_affiliate
 */
export async function deleteAffiliate(context: RequestContext, id: number): Promise<AffiliateRecord> {
  const settings = await context.settings.current()
  const affiliate = await write(context, async tx => {
    const before = found(await store.holdAffiliate(tx, id))
    await store.deleteAffiliate(tx, id)
    tx.log('affiliate.delete', id, { before: writtenOf(before, settings) })
    return before
  })
  return recordOf(affiliate, settings)
}

/** @throws Failure no_affiliate */
export async function getAffiliate(context: Context, id: number, extras: Extras): Promise<AffiliateRecord> {
  const settings = await context.settings.current()
  const affiliate = await store.findAffiliate(context.database.replica, id, needsAccount(extras))
  return recordOf(found(affiliate), settings, extras)
}

export async function listAffiliates(
  context: Context,
  filters: FilterArguments,
  page: Page,
  extras: Extras,
): Promise<store.AffiliateRow[]> {
  return store.listAffiliates(context.database.replica, criteriaOf(filters), page, needsAccount(extras))
}

export async function countAffiliates(context: Context, filters: FilterArguments): Promise<number> {
  return store.countAffiliates(context.database.replica, criteriaOf(filters))
}

/** @throws Failure no_affiliate */
export async function getNotes(context: Context, id: number): Promise<string> {
  const notes = await store.findNotes(context.database.replica, id)
  if (notes === undefined) throw new Failure('no_affiliate')
  return notes
}

export async function totalAffiliates(context: Context, filters: FilterArguments): Promise<AffiliateTotals> {
  const counts = await store.countByStatus(context.database.replica, criteriaOf(filters))
  const by_status = Object.fromEntries(statuses.map(status => [status, counts.get(status) ?? 0]))
  const count = [...counts.values()].reduce((sum, one) => sum + one, 0)
  return { count, by_status: by_status as AffiliateTotals['by_status'] }
}

/** What is wrong beyond what the schemas say; arguments that are absent are not spoken of. */
export async function problemsOfCreate(
  db: Db,
  settings: Settings,
  args: Partial<CreateArguments>,
): Promise<Problems> {
  const problems = problemsOfRate(settings, args)
  const wrongLogin = args.create_user && args.username ? loginProblem(args.username) : undefined
  if (wrongLogin) problems.username = wrongLogin
  if (!args.create_user && args.user_id !== undefined && !(await userExists(db, args.user_id))) {
    problems.user_id = 'must be the identifier of an existing account.'
  }
  return problems
}

export function problemsOfRate(settings: Settings, { rate_type }: { rate_type?: string }): Problems {
  if (!rate_type || settings.rateTypes.includes(rate_type)) return {}
  return { rate_type: `must be one of: ${settings.rateTypes.join(', ')}.` }
}

/** The record as callers see it. */
export function recordOf(row: store.AffiliateRow, settings: Settings, extras: Extras = {}): AffiliateRecord {
  const rate = formatRate(row.rate)
  const rate_type = row.rate_type ?? ''
  const record: AffiliateRecord = {
    affiliate_id: row.id,
    id: row.id,
    user_id: row.user_id,
    rate,
    rate_type,
    payment_email: row.payment_email,
    status: row.status,
    earnings: fromUnits(row.earnings, settings.decimals),
    unpaid_earnings: fromUnits(row.unpaid_earnings, settings.decimals),
    referrals: row.referrals,
    visits: row.visits,
    date_registered: formatTime(row.registered_at),
  }
  if (extras.user) {
    record.user = {
      ID: row.user_id,
      user_login: row.account_login!,
      user_email: row.account_email!,
      display_name: row.account_display_name!,
      first_name: row.account_first_name!,
      last_name: row.account_last_name!,
      user_registered: formatTime(row.account_registered_at!),
    }
  }
  if (extras.effective) {
    record.effective = {
      rate: rate || formatRate(settings.defaultRate),
      rate_type: rate_type || settings.defaultRateType,
      payment_email: row.payment_email || row.account_email!,
    }
  }
  return record
}

/** What the audit log is told of. */
const writtenOf = (row: store.WholeAffiliate, settings: Settings) => ({
  ...recordOf(row, settings),
  notes: row.notes,
})

function needsAccount({ user, effective }: Extras): boolean {
  return Boolean(user || effective)
}

function found<T>(affiliate: T | undefined): T {
  if (!affiliate) throw new Failure('no_affiliate')
  return affiliate
}

async function refuseConflict<T>(write: () => Promise<T>): Promise<T> {
  try {
    return await write()
  } catch (cause) {
    if (cause instanceof UniqueViolation) throw new Failure('already_affiliate')
    // The account was found in this transaction, so it is the rate type that was removed a moment ago.
    if (cause instanceof ReferenceViolation)
      throw invalidArguments({ rate_type: 'must be a configured rate type.' })
    throw cause
  }
}

function criteriaOf(filters: FilterArguments): store.Criteria {
  const { affiliate_id, exclude, user_id, status, rate_type, payment_email, date, updated_since, search } =
    filters
  return {
    ...(affiliate_id?.length && { ids: affiliate_id }),
    ...(exclude?.length && { exclude }),
    ...(user_id?.length && { userIds: user_id }),
    ...(status?.length && { statuses: status }),
    ...(rate_type?.length && { rateTypes: rate_type }),
    ...(payment_email?.length && { paymentEmailKeys: payment_email.map(foldCase) }),
    ...(date !== undefined && { registered: parseSpan(date) }),
    ...(updated_since !== undefined && { updated: { first: parseMoment(updated_since)!.first } }),
    ...(search && { search: parseSearch(search) }),
  }
}

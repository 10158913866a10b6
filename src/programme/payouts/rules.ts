/**
 * What is true of payouts. Their amounts are in the programme's currency: a transaction that writes one holds the
 * settings until it ends, because the currency may be changed until the first payout exists.
 */

import { Failure, type Problems, refuseInvalid } from '../../base/errors.ts'
import { exactNumber, fromUnits, toUnits } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { foldCase, parseSearch } from '../../base/text.ts'
import { formatTime, now, parseMoment, parseSpan } from '../../base/time.ts'
import { type Context, type RequestContext, write } from '../../events/write.ts'
import { holdSettings } from '../../settings/rules.ts'
import type { Db } from '../../storage/database.ts'
import type { Page } from '../../storage/page.ts'
import { unitsOfSum } from '../../storage/sums.ts'
import { affiliateExists } from '../affiliates/store.ts'
import type { CreateArguments, EditArguments, FilterArguments, PayoutRecord } from './schema.ts'
import * as store from './store.ts'

/** @throws Failure invalid_argument */
export async function createPayout(context: RequestContext, args: CreateArguments): Promise<PayoutRecord> {
  return write(context, async tx => {
    const settings = await holdSettings(tx)
    refuseInvalid(await problemsOfPayout(tx, settings, args))
    const method = args.payout_method ?? ''
    const time = now()
    const payout = await store.insertPayout(tx, {
      affiliate_id: args.affiliate_id,
      referrals: referralsText(args.referrals ?? []),
      amount: toUnits(args.amount ?? 0, settings.decimals)!,
      payout_method: method,
      payout_method_key: foldCase(method),
      status: args.status ?? 'paid',
      owner: context.actor.userId,
      created_at: time,
      updated_at: time,
    })
    const after = recordOf(payout, settings)
    tx.log('payout.create', payout.id, { after })
    return after
  })
}

/**
 * Changes what was sent and leaves the rest.
 * @throws Failure no_payout, invalid_argument
 */
export async function editPayout(context: RequestContext, args: EditArguments): Promise<PayoutRecord> {
  const { payout_id: id, affiliate_id, referrals, amount, payout_method, status } = args
  return write(context, async tx => {
    const settings = await holdSettings(tx)
    const before = found(await store.holdPayout(tx, id))
    refuseInvalid(await problemsOfPayout(tx, settings, args, before))
    const change = {
      ...(affiliate_id !== before.affiliate_id && { affiliate_id }),
      ...(referrals !== undefined && { referrals: referralsText(referrals) }),
      ...(amount !== undefined && { amount: toUnits(amount, settings.decimals)! }),
      ...(payout_method !== undefined && { payout_method, payout_method_key: foldCase(payout_method) }),
      ...(status !== undefined && { status }),
    }
    if (Object.keys(change).length === 0) return recordOf(before, settings)
    const after = recordOf(await store.updatePayout(tx, id, { ...change, updated_at: now() }), settings)
    tx.log('payout.edit', id, { before: recordOf(before, settings), after })
    return after
  })
}

/**
 * @returns the record as it was
 * @throws Failure no_payout
 */
export async function deletePayout(context: RequestContext, id: number): Promise<PayoutRecord> {
  return write(context, async tx => {
    const settings = await holdSettings(tx)
    const before = recordOf(found(await store.holdPayout(tx, id)), settings)
    await store.deletePayout(tx, id)
    tx.log('payout.delete', id, { before })
    return before
  })
}

/** What is wrong with an edit, as `problemsOfPayout` says it. */
export async function problemsOfEdit(
  { database, settings }: Context,
  { payout_id, ...args }: Partial<EditArguments>,
): Promise<Problems> {
  const before = payout_id === undefined ? undefined : await store.findPayout(database.reader, payout_id)
  return problemsOfPayout(database.reader, await settings.current(), args, before)
}

/** @throws Failure no_payout */
export async function getPayout(context: Context, id: number): Promise<PayoutRecord> {
  const settings = await context.settings.current()
  return recordOf(found(await store.findPayout(context.database.replica, id)), settings)
}

export async function listPayouts(
  context: Context,
  filters: FilterArguments,
  page: Page,
): Promise<store.Payout[]> {
  const settings = await context.settings.current()
  return store.listPayouts(context.database.replica, criteriaOf(settings, filters), page)
}

export async function countPayouts(context: Context, filters: FilterArguments): Promise<number> {
  const settings = await context.settings.current()
  return store.countPayouts(context.database.replica, criteriaOf(settings, filters))
}

/** Counts, and exact sums in the currency. */
export async function totalPayouts(context: Context, filters: FilterArguments) {
  const settings = await context.settings.current()
  const total = await store.sumPayouts(context.database.replica, criteriaOf(settings, filters))
  const [paid, failed] = [unitsOfSum(total.paid_sum), unitsOfSum(total.failed_sum)]
  const part = (count: number, sum: bigint) => ({ count, sum: exactNumber(sum, settings.decimals) })
  return {
    ...part(total.paid_count + total.failed_count, paid + failed),
    paid: part(total.paid_count, paid),
    failed: part(total.failed_count, failed),
  }
}

/**
 * What is wrong beyond what the schemas say; arguments that are absent are not spoken of.
 * @param before the payout that is edited: its affiliate may have been deleted, and it stays a payout to them
 */
export async function problemsOfPayout(
  db: Db,
  settings: Settings,
  { affiliate_id, amount }: Partial<CreateArguments>,
  before?: store.Payout,
): Promise<Problems> {
  const problems: Problems = {}
  const isOther = affiliate_id !== undefined && affiliate_id !== before?.affiliate_id
  if (isOther && !(await affiliateExists(db, affiliate_id))) {
    problems.affiliate_id = 'must be the identifier of an existing affiliate.'
  }
  if (amount !== undefined && toUnits(amount, settings.decimals) === undefined) {
    problems.amount = decimalsReason(settings)
  }
  return problems
}

/** What is wrong with what a list is to be narrowed by. */
export function problemsOfFilters(settings: Settings, { amount }: FilterArguments): Problems {
  const amounts = typeof amount === 'object' ? [amount.min ?? 0, amount.max ?? 0] : [amount ?? 0]
  const exact = amounts.every(value => toUnits(value, settings.decimals) !== undefined)
  return exact ? {} : { amount: decimalsReason(settings) }
}

/** The record as callers see it. */
export function recordOf(row: store.Payout, settings: Settings): PayoutRecord {
  return {
    payout_id: row.id,
    id: row.id,
    affiliate_id: row.affiliate_id,
    referrals: row.referrals,
    amount: fromUnits(row.amount, settings.decimals),
    payout_method: row.payout_method,
    status: row.status,
    date: formatTime(row.created_at),
    owner: row.owner,
  }
}

function decimalsReason({ currency, decimals }: Settings): string {
  return `must have at most ${decimals} decimals, as ${currency} has.`
}

function referralsText(ids: readonly number[]): string {
  return [...new Set(ids)].join(',')
}

function found(payout: store.Payout | undefined): store.Payout {
  if (!payout) throw new Failure('no_payout')
  return payout
}

function criteriaOf(settings: Settings, filters: FilterArguments): store.Criteria {
  const { payout_id, exclude, affiliate_id, referrals, payout_method, status, owner } = filters
  const { date, updated_since, search } = filters
  refuseInvalid(problemsOfFilters(settings, filters))
  const amounts = amountsOf(settings, filters)
  return {
    ...(payout_id?.length && { ids: payout_id }),
    ...(exclude?.length && { exclude }),
    ...(affiliate_id?.length && { affiliateIds: affiliate_id }),
    ...(referrals?.length && { referrals }),
    ...(amounts && { amounts }),
    ...(payout_method?.length && { methods: payout_method }),
    ...(status?.length && { statuses: status }),
    ...(owner?.length && { owners: owner }),
    ...(date !== undefined && { created: parseSpan(date) }),
    ...(updated_since !== undefined && { updated: { first: parseMoment(updated_since)!.first } }),
    ...(search && { search: parseSearch(search) }),
  }
}

function amountsOf(
  { decimals }: Settings,
  { amount, amount_compare = '=' }: FilterArguments,
): store.Criteria['amounts'] {
  if (amount === undefined) return undefined
  if (typeof amount === 'number') return { [amount_compare]: toUnits(amount, decimals)! }
  const { min, max } = amount
  return {
    ...(min !== undefined && { '>=': toUnits(min, decimals)! }),
    ...(max !== undefined && { '<=': toUnits(max, decimals)! }),
  }
}

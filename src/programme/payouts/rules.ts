/**
 * What is true of payouts. Their amounts are in the programme's currency: a transaction that writes one holds the
 * settings until it ends, because the currency may be changed until the first payout exists.
 */
import type { Static } from 'typebox'
import { type Problems, refuseInvalid } from '../../base/errors.ts'
import { exactNumber } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import { type Context, type RequestContext, write } from '../../events/write.ts'
import { existing, narrowed, readingOf } from '../../records/rules.ts'
import type { Db } from '../../storage/database.ts'
import { unitsOfSum } from '../../storage/sums.ts'
import { affiliates } from '../affiliates/store.ts'
import { type Payout, payout, type ShownPayout } from './payout.ts'
import * as store from './store.ts'

type CreateArguments = Static<typeof payout.create>
type EditArguments = Static<typeof payout.edit>

/** @throws Failure invalid_argument */
async function create(context: RequestContext, args: CreateArguments): Promise<Payout> {
  return write(context, async tx => {
    const settings = await context.settings.hold(tx)
    refuseInvalid(await problemsOfPayout(tx, settings, args))
    const made = { time: now(), actor: context.actor.userId }
    const row = await store.payouts.insert(tx, payout.fresh(args, settings, made))
    tx.log('payout.create', row.id, { after: payout.logged(row, settings) })
    return row
  })
}

/**
 * Changes what was sent and leaves the rest.
 * @throws Failure no_payout, invalid_argument
 */
async function edit(context: RequestContext, args: EditArguments): Promise<Payout> {
  const { payout_id: id, affiliate_id, ...others } = args
  return write(context, async tx => {
    const settings = await context.settings.hold(tx)
    const before = existing(payout, await store.payouts.hold(tx, id))
    refuseInvalid(await problemsOfPayout(tx, settings, args, before))
    const change = payout.keep(
      { ...others, ...(affiliate_id !== before.affiliate_id && { affiliate_id }) },
      settings,
    )
    if (Object.keys(change).length === 0) return before
    const after = await store.payouts.update(tx, id, { ...change, updated_at: now() })
    tx.log('payout.edit', id, {
      before: payout.logged(before, settings),
      after: payout.logged(after, settings),
    })
    return after
  })
}

/**
 * @returns the payout as it was
 * @throws Failure no_payout
 */
async function remove(context: RequestContext, id: number): Promise<Payout> {
  return write(context, async tx => {
    const settings = await context.settings.hold(tx)
    const before = existing(payout, await store.payouts.hold(tx, id))
    await store.payouts.remove(tx, id)
    tx.log('payout.delete', id, { before: payout.logged(before, settings) })
    return before
  })
}

/** What is wrong with arguments of a create or an edit beyond what the schemas say. */
async function problems(
  { database, settings }: Context,
  { payout_id, ...args }: Partial<EditArguments>,
): Promise<Problems> {
  const before = payout_id === undefined ? undefined : await store.payouts.find(database.reader, payout_id)
  return problemsOfPayout(database.reader, await settings.current(), args, before)
}

export const rules = { ...readingOf(payout, store.payouts), create, edit, remove, problems }

/** Counts, and exact sums in the currency. */
export async function totalPayouts(context: Context, args: object) {
  const settings = await context.settings.current()
  const total = await store.sumPayouts(context.database.replica, narrowed(payout, args, settings))
  const [paid, failed] = [unitsOfSum(total.paid_sum), unitsOfSum(total.failed_sum)]
  const part = (count: number, sum: bigint) => ({ count, sum: exactNumber(sum, settings.decimals) })
  return {
    ...part(total.paid_count + total.failed_count, paid + failed),
    paid: part(total.paid_count, paid),
    failed: part(total.failed_count, failed),
  }
}

/** @param before the payout that is edited: its affiliate may have been deleted, and it stays a payout to them */
async function problemsOfPayout(
  db: Db,
  settings: Settings,
  args: Partial<CreateArguments>,
  before?: ShownPayout,
): Promise<Problems> {
  const { affiliate_id } = args
  const isOther = affiliate_id !== undefined && affiliate_id !== before?.affiliate_id
  const isUnknown = isOther && !(await affiliates.exists(db, affiliate_id))
  return {
    ...(isUnknown && { affiliate_id: 'must be the identifier of an existing affiliate.' }),
    ...payout.problems(args, settings),
  }
}

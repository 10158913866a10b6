/**
 * What is true of referrals. What one is worth stands in the ledger, in the account that its status says: whatever changes
 * status, amount or affiliate posts the difference in the same transaction.
 */
import { hash } from 'node:crypto'
import { Failure, missingArguments, type Problems, refuseInvalid } from '../../base/errors.ts'
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import { type Context, type RequestContext, type WriteTx, write } from '../../events/write.ts'
import type { Many } from '../../records/bulk-rules.ts'
import { existing, isAlready, readingOf } from '../../records/rules.ts'
import { type Db, UniqueViolation } from '../../storage/database.ts'
import { affiliateOfAccount } from '../affiliates/store.ts'
import { postReferral } from '../ledger/rules.ts'
import { convert, release } from '../visits/store.ts'
import { inCurrencyOf, withCommission } from './commission.ts'
import { type Before, missingIn } from './missing.ts'
import { type Referral, referral } from './referral.ts'
import type { CreateArguments, EditArguments } from './schema.ts'
import * as store from './store.ts'

type Status = Referral['status']

/** Where each status leads; from `paid` when it was paid by hand. What a payout paid stays paid as long as that does. */
const moves: Readonly<Record<Status, readonly Status[]>> = {
  draft: ['pending', 'unpaid', 'rejected'],
  pending: ['unpaid', 'rejected', 'paid'],
  unpaid: ['pending', 'rejected', 'paid'],
  rejected: ['pending', 'unpaid', 'paid'],
  paid: ['unpaid'],
}

/** Types that may be negative, and that no reference makes unique: a sale can be taken back in many parts. */
const isCorrection = (type: Referral['type']) => type === 'refund' || type === 'write_off'

export interface Created {
  readonly row: Referral
  /** It was there already: the same was sent before. */
  readonly replayed: boolean
}

/** @throws Failure missing_argument, invalid_argument, reference_taken */
async function create(context: RequestContext, args: CreateArguments): Promise<Created> {
  return write(context, async tx => {
    const sent = await withAffiliate(tx, args)
    // At the same moment: neither needs another.
    const [settings, missing, eventId] = await Promise.all([
      context.settings.hold(tx),
      missingIn(tx, sent),
      tx.reserveEvent(),
    ])
    refuseInvalid({ ...missing, ...problemsIn(sent, settings) })
    const draft = await withCommission(tx, settings, sent, draftOf(sent, settings, context.actor.userId))
    const created = await insertOnce(tx, draft, sent, settings)
    if (!created.replayed) await finish(tx, 'referral.create', { after: created.row }, settings, eventId)
    return created
  })
}

function draftOf(sent: CreateArguments, settings: Settings, actor: number) {
  const { currency } = settings
  const status = sent.status ?? (sent.type === 'write_off' ? 'unpaid' : 'pending')
  const made = { time: now(), actor }
  const draft = referral.fresh({ ...sent, status, currency }, inCurrencyOf(sent, settings), made)
  const unique_reference = isUnique(draft, settings)
  return { ...draft, unique_reference, request_hash: unique_reference ? requestHash(sent, settings) : '' }
}

/** Inserts it, or says which is there already because of the same request. @throws Failure reference_taken */
async function insertOnce(
  tx: WriteTx,
  draft: ReturnType<typeof draftOf>,
  sent: CreateArguments,
  settings: Settings,
): Promise<Created> {
  for (;;) {
    const row = await store.insertUnlessTaken(tx, draft)
    if (row) return { row, replayed: false }
    const taken = await store.findTaken(tx, draft)
    // Else somebody has deleted it a moment ago.
    if (taken && isSame(taken, draft, sent, settings)) return { row: taken, replayed: true }
    if (taken) throw referenceTaken(taken)
  }
}

/**
 * The same for who may send the same once more: also one that need not be unique is found by what it is called.
 * @throws Failure as `create` does
 */
export async function createOrFind(context: RequestContext, args: CreateArguments): Promise<Created> {
  return write(context, async tx => {
    const settings = await context.settings.hold(tx)
    const sent = await withAffiliate(tx, args)
    const { affiliate_id, context: shop, reference, type = 'sale' } = sent
    if (affiliate_id === undefined || !shop || !reference) return create(context, args)
    const called = { affiliate_id, context: shop.toLowerCase(), reference, type }
    const taken = await store.findCalled(tx, called)
    if (!taken) return create(context, args)
    if (isSame(taken, { request_hash: requestHash(sent, settings) }, sent, settings)) {
      return { row: taken, replayed: true }
    }
    throw referenceTaken(taken)
  })
}

/**
 * Changes what was sent and leaves the rest.
 * @throws Failure no_referral, invalid_argument, referral_conflict, reference_taken
 */
async function edit(context: RequestContext, args: EditArguments): Promise<Referral> {
  return write(context, async tx => {
    const [settings, row, eventId] = await Promise.all([
      context.settings.hold(tx),
      store.referrals.hold(tx, args.referral_id),
      tx.reserveEvent(),
    ])
    const before = existing(referral, row)
    refuseInvalid({ ...(await missingIn(tx, args, before)), ...problemsIn(args, settings, before) })
    const { referral_id: _id, ...sent } = args
    const change = referral.keep(sent, settings)
    const draft = { ...before, ...change }
    refuseSettled(before, draft)
    refuseMove(before.status, draft.status)
    refuseUnknownAmount(before, draft, sent)
    const unique_reference = isUnique(draft, settings)
    if (isAlready(before, change)) return before
    // Whoever says what it is worth says what it waited for.
    const reason = before.status === 'draft' && draft.status !== 'draft' ? '' : before.reason
    const after = await refuseTaken(() =>
      store.referrals.update(tx, before.id, { ...change, reason, unique_reference, updated_at: now() }),
    )
    await finish(tx, actionOf(before.status, after.status), { before, after }, settings, eventId)
    return after
  })
}

/**
 * @returns the referral as it was
 * @throws Failure no_referral, referral_conflict
 */
async function remove(context: RequestContext, id: number): Promise<Referral> {
  return write(context, async tx => {
    const settings = await context.settings.hold(tx)
    const before = existing(referral, await store.referrals.hold(tx, id))
    refuseSettled(before)
    await store.referrals.remove(tx, id)
    await finish(tx, 'referral.delete', { before }, settings)
    return before
  })
}

/** What is wrong with arguments of a create or an edit beyond what the schemas say. */
async function problems(
  { database, settings }: Context,
  args: Partial<CreateArguments & EditArguments>,
): Promise<Problems> {
  const { referral_id: id } = args
  const before = id === undefined ? undefined : await store.referrals.find(database.reader, id)
  const missing = await missingIn(database.reader, args, before)
  return { ...missing, ...problemsIn(args, await settings.current(), before) }
}

const reading = readingOf(referral, store.referrals)

export const rules = { ...reading, create, edit, remove, problems }

export const many: Many = { name: referral.name, reading, store: store.referrals }

/** A referral that follows from what a shop has reported. */
type Earned = Omit<store.NewReferral, 'id' | 'unique_reference' | 'request_hash'>

/** @throws Failure reference_taken */
export async function earn(tx: WriteTx, draft: Earned, settings: Settings): Promise<Referral> {
  const whole = { ...draft, unique_reference: isUnique(draft, settings), request_hash: '' }
  const row = await store.insertUnlessTaken(tx, whole)
  if (!row) throw referenceTaken(await store.findTaken(tx, whole))
  await finish(tx, 'referral.create', { after: row }, settings)
  return row
}

/** Changes what refunds, disputes and rates that came later change. The caller knows that it is open. */
export async function adjust(
  tx: WriteTx,
  before: Referral,
  change: Pick<Referral, 'amount'> & Partial<Referral>,
  settings: Settings,
): Promise<Referral> {
  const { id: _id, ...values } = change
  const unique_reference = isUnique({ ...before, ...values }, settings)
  const after = await refuseTaken(() =>
    store.referrals.update(tx, before.id, { ...values, unique_reference, updated_at: now() }),
  )
  await finish(tx, actionOf(before.status, after.status), { before, after }, settings)
  return after
}

/**
 * Logs what was done, posts what it moves, and tells the visit that has led to it.
 * @param reserved the identifier of the event, where it is known by now
 */
export async function finish(
  tx: WriteTx,
  action: ReferralAction,
  { before, after }: { before?: Referral; after?: Referral },
  settings: Settings,
  reserved?: number,
): Promise<void> {
  const { id } = (after ?? before)!
  const eventId = reserved ?? (await tx.reserveEvent())
  tx.log(action, id, {
    ...(before && { before: referral.logged(before, settings) }),
    ...(after && { after: referral.logged(after, settings) }),
    event: eventId,
  })
  await postReferral(tx, { before, after }, { reason: action, eventId, referralId: id })
  await tellVisits(tx, { before, after })
}

/** A visit has led to a referral once that is approved, and no longer when it is rejected or deleted, or names another. */
async function tellVisits(
  tx: WriteTx,
  { before, after }: { before?: Referral | undefined; after?: Referral | undefined },
): Promise<void> {
  const time = now()
  const isLost = !after || after.visit_id !== before?.visit_id || after.status === 'rejected'
  if (before && before.visit_id !== 0 && isLost) {
    await release(tx, { visitId: before.visit_id, referralId: before.id, time })
  }
  if (after && after.visit_id !== 0 && (after.status === 'unpaid' || after.status === 'paid')) {
    const { id: referralId, visit_id: visitId, affiliate_id: affiliateId } = after
    await convert(tx, { visitId, affiliateId, referralId, time })
  }
}

export type ReferralAction = `referral.${'create' | 'edit' | 'approve' | 'reject' | 'pay' | 'delete'}`

/** What an edit is called that moves the status. */
export function actionOf(before: Status, after: Status): ReferralAction {
  if (before === after) return 'referral.edit'
  if (after === 'rejected') return 'referral.reject'
  if (after === 'paid') return 'referral.pay'
  return after === 'unpaid' && before !== 'paid' ? 'referral.approve' : 'referral.edit'
}

/** An affiliate may be named by identifier, or by the account's identifier or login. */
async function withAffiliate(db: Db, args: CreateArguments): Promise<CreateArguments> {
  const { affiliate_id, user_id, user_name, ...rest } = args
  if (affiliate_id !== undefined) return { ...rest, affiliate_id }
  const account = user_id === undefined ? user_name : user_id
  if (account === undefined) throw missingArguments(['affiliate_id'])
  const found = await affiliateOfAccount(db, account)
  if (found !== undefined) return { ...rest, affiliate_id: found }
  refuseInvalid({ [user_id === undefined ? 'user_name' : 'user_id']: 'must be the account of an affiliate.' })
  return rest
}

/** What is wrong with the arguments by themselves. */
function problemsIn(args: Partial<CreateArguments>, settings: Settings, before?: Before): Problems {
  const { amount = 0, type = before?.type ?? 'sale' } = args
  const isNegative = amount < 0 || (args.amount === undefined && (before?.amount ?? 0) < 0)
  return {
    ...(isNegative &&
      !isCorrection(type) && { amount: 'must be 0 or more; a refund or a write-off may be negative.' }),
    ...(before && args.currency !== undefined && problemOfCurrency(args.currency, settings)),
    ...referral.problems(args, inCurrencyOf(args, settings)),
  }
}

function problemOfCurrency(sent: string, { currency }: Settings): Problems {
  return sent.toUpperCase() === currency
    ? {}
    : { currency: `must be ${currency}: what the affiliate earns is in it.` }
}

/** What money has left for, or is about to, stays as it is. */
function refuseSettled(before: Referral, after?: Referral): void {
  const same =
    after &&
    (['status', 'amount', 'affiliate_id', 'type'] as const).every(name => before[name] === after[name])
  if (same) return
  if (before.run_item_id !== 0 && before.status === 'unpaid') {
    throw new Failure('referral_conflict', {
      message: 'The referral is in an approved payout run: record a refund instead, or cancel the run.',
    })
  }
  if (before.payout_id !== 0) {
    throw new Failure('referral_conflict', {
      message: `Payout ${before.payout_id} has paid this referral: record a refund instead, or correct the payout.`,
      data: { payout_id: before.payout_id },
    })
  }
}

/** A draft has no amount; who rejects it needs none. */
function refuseUnknownAmount(before: Referral, after: Referral, { amount }: Partial<CreateArguments>): void {
  if (before.status !== 'draft' || ['draft', 'rejected'].includes(after.status) || amount !== undefined)
    return
  throw new Failure('referral_conflict', {
    message: `The referral is a draft, because ${draftReasons[before.reason] ?? 'its amount is not known'}: send its amount as well.`,
    data: { reason: before.reason },
  })
}

const draftReasons: Readonly<Record<string, string>> = {
  no_exchange_rate: 'there is no exchange rate for its date',
  no_rule: 'no rule says what it earns',
}

function refuseMove(before: Status, after: Status): void {
  if (before === after || moves[before].includes(after)) return
  throw new Failure('referral_conflict', {
    message: `A referral that is ${before} can become ${moves[before].join(' or ')}, not ${after}.`,
    data: { from: before, to: after },
  })
}

/** Whether no other may have the same reference. */
function isUnique(
  { context, reference, type, status }: Pick<Referral, 'context' | 'reference' | 'type' | 'status'>,
  { earning }: Settings,
): 0 | 1 {
  if (!earning.uniqueReferences) return 0
  return context !== '' && reference !== '' && status !== 'rejected' && !isCorrection(type) ? 1 : 0
}

function requestHash(sent: CreateArguments, settings: Settings): string {
  const kept = Object.entries(referral.keep(sent, inCurrencyOf(sent, settings))).sort(([a], [b]) =>
    a < b ? -1 : 1,
  )
  return hash('sha256', JSON.stringify(kept), 'base64url')
}

/** Whether what was sent is what made the referral, or what it is by now. */
function isSame(
  taken: Referral,
  row: { request_hash: string },
  sent: CreateArguments,
  settings: Settings,
): boolean {
  if (taken.request_hash === row.request_hash) return true
  if (inCurrencyOf(sent, settings) !== settings) return false
  return isAlready(taken, referral.keep(sent, settings))
}

/** @throws Failure reference_taken instead of the database's refusal */
async function refuseTaken<T>(update: () => Promise<T>): Promise<T> {
  try {
    return await update()
  } catch (cause) {
    if (cause instanceof UniqueViolation) throw referenceTaken()
    throw cause
  }
}

function referenceTaken(taken?: Referral): Failure {
  return new Failure('reference_taken', {
    ...(taken && {
      message: `Referral ${taken.id} of this affiliate has the same context, reference and type, and is not what was sent.`,
      data: { referral_id: taken.id },
    }),
  })
}

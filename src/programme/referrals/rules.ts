/**
 * Rules for referrals. The ledger holds the amount of each referral in the account for its status: whatever changes status, amount
 * or affiliate posts the difference in the same transaction.
 */
import { hash } from 'node:crypto'
import { attempted, Failure, missingArguments, type Problems, refuseInvalid } from '../../base/errors.ts'
import { orderedJson, parseExactly } from '../../base/json.ts'
import type { Settings } from '../../base/settings.ts'
import { foldCase } from '../../base/text.ts'
import { now } from '../../base/time.ts'
import { type Context, type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { existing, isAlready, readingOf } from '../../records/rules.ts'
import { forEachConcurrently, forEachInTurn } from '../../storage/concurrently.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { affiliateOfAccount } from '../affiliates/store.ts'
import { lockSales } from '../commission/judging.ts'
import { lockNamesOfReferral } from '../conversions/store.ts'
import { postTogether } from '../ledger/rules.ts'
import { runOf } from '../runs/store.ts'
import {
  actionOf,
  finish,
  isCalled,
  isUnique,
  keepsIdentity,
  referenceTaken,
  refuseTaken,
  uniqueAfter,
} from './changing.ts'
import { inCurrencyOf, withCommission } from './commission.ts'
import {
  balance,
  decide,
  earnerOf,
  endOfHold,
  holdOfDraft,
  refuseNothingLeft,
  refuseUnknownAmount,
} from './decisions.ts'
import { rejudgeDraft } from './drafts.ts'
import { type Before, missingIn } from './missing.ts'
import { type Referral, referral } from './referral.ts'
import { endOfRejection } from './rejection.ts'
import type { CreateArguments, EditArguments } from './schema.ts'
import * as store from './store.ts'
import { isCorrection } from './types.ts'

type Status = Referral['status']

/** The allowed changes of status; from `paid` only where no payout has paid it. */
const moves: Readonly<Record<Status, readonly Status[]>> = {
  draft: ['pending', 'unpaid', 'rejected'],
  pending: ['unpaid', 'rejected', 'paid'],
  unpaid: ['pending', 'rejected', 'paid'],
  rejected: ['pending', 'unpaid', 'paid'],
  paid: ['unpaid'],
}

export interface Created {
  readonly row: Referral
  /** Whether it was created by an earlier, identical request. */
  readonly replayed: boolean
}

/** @throws Failure missing_argument, invalid_argument, reference_taken */
async function create(context: RequestContext, args: CreateArguments): Promise<Created> {
  return write(context, async tx => finishCreation(tx, await insertNew(context, tx, args)))
}

/** Creates many; one whose arguments are refused yields its failure. @throws Failure of one that exceeds what is owed */
async function createMany(
  context: RequestContext,
  all: readonly CreateArguments[],
): Promise<(Created | Failure)[]> {
  return write(context, async tx => {
    await tx.expectEvents(all.length)
    const outcomes = new Map<CreateArguments, Created | Failure>()
    const createOne = async (args: CreateArguments) => {
      const inserted = await attempted(() => insertNew(context, tx, args))
      outcomes.set(args, inserted instanceof Failure ? inserted : await finishCreation(tx, inserted))
    }
    const createInTurn = () => forEachInTurn(all, createOne)
    const isJudged = all.some(byRules)
    if (isJudged) {
      const ids = all.flatMap(({ affiliate_id }) => affiliate_id ?? [])
      await lockSales(tx, await context.settings.lock(tx), ids)
    }
    // What a write-off before it has moved decides whether a deleted affiliate is still owed something.
    if (all.some(({ type }) => type === 'write_off')) await createInTurn()
    // What a sale earns may depend on those before it.
    else if (isJudged) await postTogether(tx, createInTurn)
    else await postTogether(tx, () => forEachConcurrently(tx, all, createOne))
    return all.map(args => outcomes.get(args)!)
  })
}

const byRules = ({ amount }: CreateArguments) => amount === undefined

/** Before referrals are created one by one in a transaction: locks what affiliates have sold, if that of any may depend on it. */
export async function lockIfJudged(
  { settings }: Context,
  tx: Tx,
  all: readonly CreateArguments[],
): Promise<void> {
  if (all.some(byRules)) await lockSales(tx, await settings.lock(tx), 'all')
}

interface Inserted {
  readonly created: Created
  readonly settings: Settings
  readonly eventId: number
}

/** Inserts the referral, and nothing that would have to be undone if it is refused. @throws Failure as `create` does */
async function insertNew(context: RequestContext, tx: WriteTx, args: CreateArguments): Promise<Inserted> {
  const resolvedArgs = await withAffiliate(tx, args)
  // Independent of each other, so they are sent together.
  const [settings, missing, eventId] = await Promise.all([
    context.settings.lock(tx),
    missingIn(tx, resolvedArgs),
    tx.reserveEvent(),
  ])
  refuseInvalid({ ...missing, ...problemsIn(resolvedArgs, settings) })
  const sent = newRowOf(resolvedArgs, settings, context.actor.userId)
  const newRow = uniqueIfDraft(await withCommission(tx, settings, resolvedArgs, sent), settings)
  return { created: await insertOnce(tx, newRow, resolvedArgs, settings), settings, eventId }
}

async function finishCreation(tx: WriteTx, { created, settings, eventId }: Inserted): Promise<Created> {
  if (!created.replayed) await finish(tx, 'referral.create', { after: created.row }, settings, { eventId })
  return created
}

function newRowOf(args: CreateArguments, settings: Settings, actor: number) {
  const { currency } = settings
  const status = args.status ?? (args.type === 'write_off' ? 'unpaid' : 'pending')
  const origin = { time: now(), actor }
  const newRow = referral.newRow({ ...args, status, currency }, inCurrencyOf(args, settings), origin)
  const unique_reference = isUnique(newRow, settings)
  // Even if the reference need not be unique: a repeated import recognises the referral by it.
  return { ...newRow, unique_reference, request_hash: isCalled(newRow) ? requestHash(args, settings) : '' }
}

/** The reference of a draft is unique as long as it is one, even if the draft is to be rejected once its rate is known. */
const uniqueIfDraft = (newRow: ReturnType<typeof newRowOf>, settings: Settings) =>
  newRow.status === 'draft' ? { ...newRow, unique_reference: isUnique(newRow, settings) } : newRow

const NOT_WHAT_WAS_SENT = ', and is not what was sent'

/** Inserts the row, or finds the referral that the same request created earlier. @throws Failure reference_taken */
async function insertOnce(
  tx: WriteTx,
  newRow: ReturnType<typeof newRowOf>,
  args: CreateArguments,
  settings: Settings,
): Promise<Created> {
  for (;;) {
    const row = await store.insertUnlessTaken(tx, newRow)
    if (row) return { row, replayed: false }
    const existingReferral = await store.findTaken(tx, newRow)
    // Otherwise it was deleted in the meantime.
    if (existingReferral && isSame(existingReferral, newRow, args, settings))
      return { row: existingReferral, replayed: true }
    if (existingReferral) throw referenceTaken(existingReferral, NOT_WHAT_WAS_SENT)
  }
}

/**
 * Creates a referral, or finds the one that the same arguments created earlier, even if references need not be unique.
 * @throws Failure as `create` does
 */
export async function createOrFind(context: RequestContext, args: CreateArguments): Promise<Created> {
  return write(context, async tx => {
    const settings = await context.settings.lock(tx)
    const resolvedArgs = await withAffiliate(tx, args)
    const { affiliate_id, context: shop, reference, type = 'sale' } = resolvedArgs
    if (affiliate_id === undefined || !shop || !reference) return create(context, args)
    const identity = { affiliate_id, context: foldCase(shop), reference, type }
    const existingReferral = await store.findCalled(tx, identity)
    if (!existingReferral) return create(context, args)
    if (
      isSame(existingReferral, { request_hash: requestHash(resolvedArgs, settings) }, resolvedArgs, settings)
    ) {
      return { row: existingReferral, replayed: true }
    }
    throw referenceTaken(existingReferral, NOT_WHAT_WAS_SENT)
  })
}

/**
 * Names the other referral that has the reference. One that gets it at the same time violates the unique index.
 * @throws Failure reference_taken
 */
async function refuseTakenByOther(tx: WriteTx, before: Referral, after: Referral): Promise<void> {
  if (after.unique_reference === 0 || (before.unique_reference === 1 && keepsIdentity(before, after))) return
  const other = await store.findTaken(tx, after)
  if (other && other.id !== before.id) throw referenceTaken(other)
}

/**
 * Changes the fields that were sent, and no others.
 * @throws Failure no_referral, invalid_argument, referral_conflict, reference_taken
 */
async function edit(context: RequestContext, args: EditArguments): Promise<Referral> {
  return write(context, async tx => {
    // Sent together, and locked in the order in which reports lock them: otherwise, both could wait for each other.
    const [settings, , row, eventId] = await Promise.all([
      context.settings.lock(tx),
      args.amount === undefined ? undefined : lockNamesOfReferral(tx, args.referral_id),
      store.lockForChange(tx, args.referral_id),
      tx.reserveEvent(),
    ])
    const before = existing(referral, row)
    refuseInvalid({ ...(await missingIn(tx, args, before)), ...problemsIn(args, settings, before) })
    const { referral_id: _id, ...sent } = args
    const change = referral.keep(sent, settings)
    const requested = { ...before, ...change }
    await refuseReservedOrPaid(tx, before, requested)
    refuseMove(before.status, requested.status)
    refuseUnknownAmount(before, requested, sent)
    refuseNothingLeft(before, requested)
    const unique_reference = uniqueAfter(before, requested, settings)
    if (isAlready(before, change)) return before
    await refuseTakenByOther(tx, before, { ...requested, unique_reference })
    const earner = earnerOf(before, requested)
    const judged = { ...before, ...earner }
    const decided = {
      ...earner,
      ...(await decide(tx, settings, judged, requested)),
      ...endOfRejection(before, change),
      ...endOfHold(before, requested),
      ...holdOfDraft(judged, requested),
    }
    const changes = { ...change, ...decided, unique_reference, updated_at: now() }
    const after = await store.referrals.update(tx, before, changes, refuseTaken)
    await finish(tx, actionOf(before.status, after.status), { before, after }, settings, { eventId })
    await balance(tx, { before, after }, settings)
    // The other affiliate may have the terms that the draft waits for.
    const isMovedDraft = after.status === 'draft' && after.affiliate_id !== before.affiliate_id
    return isMovedDraft ? rejudgeDraft(tx, settings, after, 'referral.edit') : after
  })
}

/**
 * @returns the referral as it was
 * @throws Failure no_referral, referral_conflict
 */
async function remove(context: RequestContext, id: number): Promise<Referral> {
  return write(context, async tx => {
    const settings = await context.settings.lock(tx)
    const before = existing(referral, await store.lockForChange(tx, id))
    await refuseReservedOrPaid(tx, before)
    await decide(tx, settings, before)
    await store.referrals.remove(tx, id)
    await finish(tx, 'referral.delete', { before }, settings)
    return before
  })
}

/** What is wrong with arguments of a create or an edit beyond their schemas. */
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

export const rules = { ...reading, create, createMany, edit, remove, problems }

export const bulkKind = { ...referral, reading, store: store.referrals }

/**
 * Resolves an affiliate that is named by the account's identifier or login.
 * @throws Failure missing_argument, invalid_argument
 */
export async function withAffiliate(db: Db, args: CreateArguments): Promise<CreateArguments> {
  const { affiliate_id, user_id, user_name, ...rest } = args
  if (affiliate_id !== undefined) return { ...rest, affiliate_id }
  const account = user_id === undefined ? user_name : user_id
  if (account === undefined) throw missingArguments(['affiliate_id'])
  const affiliateId = await affiliateOfAccount(db, account)
  if (affiliateId !== undefined) return { ...rest, affiliate_id: affiliateId }
  refuseInvalid({ [user_id === undefined ? 'user_name' : 'user_id']: 'must be the account of an affiliate.' })
  return rest
}

/** What is wrong with the arguments, without looking anything up. */
function problemsIn(
  args: Partial<CreateArguments & EditArguments>,
  settings: Settings,
  before?: Before,
): Problems {
  const { amount = 0, type = before?.type ?? 'sale' } = args
  const isNegative = amount < 0 || (args.amount === undefined && (before?.amount ?? 0) < 0)
  const { rejection_reason, status = before?.status } = args
  return {
    ...(rejection_reason &&
      status !== 'rejected' && {
        rejection_reason: 'must be empty, unless the referral is rejected or becomes so.',
      }),
    ...(isNegative &&
      !isCorrection(type) && { amount: 'must be 0 or more; a refund or a write-off may be negative.' }),
    ...(before && args.currency !== undefined && problemOfCurrency(args.currency, settings)),
    ...referral.problems(args, inCurrencyOf(args, settings)),
  }
}

function problemOfCurrency(sentCurrency: string, { currency }: Settings): Problems {
  return sentCurrency.toUpperCase() === currency
    ? {}
    : { currency: `must be ${currency}: what the affiliate earns is in it.` }
}

/**
 * A referral that an approved payout run has reserved cannot change. One that a payout has paid can, as far as it moves no money.
 * @throws Failure referral_conflict
 */
async function refuseReservedOrPaid(tx: WriteTx, before: Referral, after?: Referral): Promise<void> {
  if (after && isAlready(before, after)) return
  if (before.run_item_id !== 0 && before.status === 'unpaid') {
    const payout_run_id = await runOf(tx, before.run_item_id)
    throw new Failure('referral_conflict', {
      message: `The referral is in payout run ${payout_run_id}, which is approved: record a refund instead, or cancel the run.`,
      data: { payout_run_id },
    })
  }
  const movesNothing =
    after &&
    (['status', 'amount', 'affiliate_id', 'type'] as const).every(name => before[name] === after[name])
  if (before.payout_id !== 0 && !movesNothing) {
    throw new Failure('referral_conflict', {
      message: `Payout ${before.payout_id} has paid this referral: record a refund instead, or correct the payout.`,
      data: { payout_id: before.payout_id },
    })
  }
}

function refuseMove(before: Status, after: Status): void {
  if (before === after || moves[before].includes(after)) return
  throw new Failure('referral_conflict', {
    message: `A referral that is ${before} can become ${moves[before].join(' or ')}, not ${after}.`,
    data: { from: before, to: after },
  })
}

function requestHash(args: CreateArguments, settings: Settings): string {
  const kept = comparable(referral.keep(args, inCurrencyOf(args, settings)))
  const columns = Object.entries(kept).sort(([a], [b]) => (a < b ? -1 : 1))
  return hash('sha256', JSON.stringify(columns), 'base64url')
}

/** Whether the arguments are those with which the referral was created, or describe it as it is now. */
function isSame(
  existingReferral: Referral,
  row: { request_hash: string },
  args: CreateArguments,
  settings: Settings,
): boolean {
  if (existingReferral.request_hash === row.request_hash) return true
  if (inCurrencyOf(args, settings) !== settings) return false
  return isAlready(comparable(existingReferral), comparable(referral.keep(args, settings)))
}

/** With JSON in one order: whoever sends an object again may name its members in another one. */
function comparable<C extends Partial<Pick<Referral, 'custom' | 'products'>>>(columns: C): C {
  const { custom, products } = columns
  return {
    ...columns,
    ...(custom && { custom: orderedJson(parseExactly(custom)) }),
    ...(products && { products: orderedJson(parseExactly(products)) }),
  }
}

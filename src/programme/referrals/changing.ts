/**
 * What belongs to every change of a referral, whoever makes it: its event, the transfers in the ledger, the visit that led to it,
 * and whether its reference must be unique. Also the changes that follow from conversions.
 */
import { Failure } from '../../base/errors.ts'
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import { throwLostRace, UniqueViolation } from '../../storage/database.ts'
import { aboutWhomBy } from '../affiliates/account.ts'
import type { Reason } from '../ledger/because.ts'
import { postReferral } from '../ledger/rules.ts'
import { type Referral, referral } from './referral.ts'
import { endOfRejection } from './rejection.ts'
import * as store from './store.ts'
import { isCorrection } from './types.ts'
import { tellVisits } from './visits.ts'

type Status = Referral['status']

/** A new referral that follows from a conversion. */
type EarnedReferral = Omit<Referral, 'id' | 'unique_reference' | 'request_hash'>

/** Creates a referral that follows from a conversion. @throws Failure reference_taken */
export async function earn(
  tx: WriteTx,
  earned: EarnedReferral,
  settings: Settings,
  reason?: Reason,
): Promise<Referral> {
  const newRow = { ...earned, unique_reference: isUnique(earned, settings), request_hash: '' }
  const row = await store.insertUnlessTaken(tx, newRow)
  if (!row) throw referenceTaken(await store.findTaken(tx, newRow))
  await finish(tx, 'referral.create', { after: row }, settings, { reason })
  return row
}

/**
 * Changes a referral because of what was reported later, such as a refund or a dispute. The caller has checked that it may change.
 * @throws LostRace if another referral gets the same reference at the same moment
 */
export async function adjust(
  tx: WriteTx,
  before: Referral,
  change: Pick<Referral, 'amount'> & Partial<Referral>,
  settings: Settings,
  reason: Reason,
): Promise<Referral> {
  const { id: _id, ...values } = change
  const changed = { ...before, ...values }
  const wanted = uniqueAfter(before, changed, settings)
  // Another referral may have got the reference while this one was rejected. It keeps it: a report is never refused for that.
  const isTaken = wanted > before.unique_reference && (await store.findTaken(tx, changed)) !== undefined
  const unique_reference = isTaken ? 0 : wanted
  const decided = { ...endOfRejection(before, values), unique_reference, updated_at: now() }
  const after = await store.referrals.update(tx, before, { ...values, ...decided }, throwLostRace)
  await finish(tx, actionOf(before.status, after.status), { before, after }, settings, { reason })
  return after
}

interface Finishing {
  /** The identifier of the event, if it is reserved already. */
  readonly eventId?: number | undefined
  /** The reason of the transfers; derived from the action if omitted. */
  readonly reason?: Reason | undefined
}

/** Logs a change, posts its transfers, and updates the visit that led to the referral. */
export async function finish(
  tx: WriteTx,
  action: ReferralAction,
  { before, after }: { before?: Referral; after?: Referral },
  settings: Settings,
  { eventId: reserved, reason = reasonOf(action, after) }: Finishing = {},
): Promise<void> {
  const { id } = (after ?? before)!
  const about = await aboutWhomBy(
    tx,
    'rejection_reason',
    { before, after },
    reserved ?? (await tx.reserveEvent()),
  )
  tx.log(action, id, {
    ...(before && { before: referral.logged(before, settings) }),
    ...(after && { after: referral.logged(after, settings) }),
    ...about,
  })
  await postReferral(tx, { before, after }, { reason, eventId: about.event, referralId: id })
  await tellVisits(tx, { before, after })
}

/** A correction that a person records has a reason of its own, such as `referral.write_off`. */
function reasonOf(action: ReferralAction, after: Referral | undefined): Reason {
  const type = after?.type
  return action === 'referral.create' && type !== undefined && isCorrection(type)
    ? `referral.${type}`
    : action
}

type ReferralAction = `referral.${'create' | 'edit' | 'approve' | 'reject' | 'pay' | 'delete'}`

/** The action of an edit, which depends on the change of status. */
export function actionOf(before: Status, after: Status): ReferralAction {
  if (before === after) return 'referral.edit'
  if (after === 'rejected') return 'referral.reject'
  if (after === 'paid') return 'referral.pay'
  return after === 'unpaid' && before !== 'paid' ? 'referral.approve' : 'referral.edit'
}

/** 1 if no other referral may have the same reference. */
export function isUnique(
  row: Pick<Referral, 'context' | 'reference' | 'type' | 'status'>,
  { earning }: Settings,
): 0 | 1 {
  if (!earning.uniqueReferences) return 0
  return isCalled(row) && row.status !== 'rejected' && !isCorrection(row.type) ? 1 : 0
}

/** Whether a referral has a context and a reference, by which a repeated request is recognised. */
export const isCalled = ({ context, reference }: Pick<Referral, 'context' | 'reference'>) =>
  context !== '' && reference !== ''

/** Whether what identifies a referral is the same after a change. */
export const keepsIdentity = (before: Referral, after: Referral): boolean =>
  (['context', 'reference', 'type', 'affiliate_id'] as const).every(name => before[name] === after[name])

/**
 * The value of `unique_reference` after a change. A referral from a time when references did not have to be unique may keep a
 * shared one, unless the change is about what identifies it, or about its rejection.
 */
export function uniqueAfter(before: Referral, after: Referral, settings: Settings): number {
  const isKept = keepsIdentity(before, after) && before.status !== 'rejected' && after.status !== 'rejected'
  return isKept ? before.unique_reference : isUnique(after, settings)
}

/** @throws Failure reference_taken for a violated unique index, and any other error as it is */
export function refuseTaken(cause: unknown): never {
  throw cause instanceof UniqueViolation ? referenceTaken() : cause
}

/**
 * @param existingReferral the referral that has the reference, if it was read
 * @param besides what else the message says of it
 */
export function referenceTaken(existingReferral?: Referral, besides = ''): Failure {
  return new Failure('reference_taken', {
    ...(existingReferral && {
      message: `Referral ${existingReferral.id} of this affiliate has the same context, reference and type${besides}.`,
      data: { referral_id: existingReferral.id },
    }),
  })
}

/** A draft waits for an exchange rate, a rule or a rate. As soon as that exists, its amount is computed. */
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import { type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { markRules } from '../../settings/rules.ts'
import { parseCalculation, type Target } from '../commission/calculation.ts'
import { type DraftReason, ENDED, isEnded, isOwedAtOnce, type Judgement } from '../commission/engine.ts'
import { columnsOf, commissionOfDraft, holdUntil, lockSales } from '../commission/judging.ts'
import type { Reason } from '../ledger/because.ts'
import { postTogether } from '../ledger/rules.ts'
import { actionOf, finish } from './changing.ts'
import { DUPLICATE, REFUNDED } from './reasons.ts'
import type { Referral } from './referral.ts'
import * as store from './store.ts'

/** How many are changed in one transaction, so that no other write waits for long. */
const BATCH = 100

/** Which drafts: those that meet everything that is given. */
export interface Waiting {
  readonly reasons?: readonly DraftReason[]
  readonly affiliateId?: number
  /** An identifier. */
  readonly after?: number
}

/**
 * Judges the next drafts again.
 * @returns the identifier to continue after; undefined when there are no more
 */
export async function rejudgeDrafts(
  tx: WriteTx,
  settings: Settings,
  waiting: Waiting = {},
): Promise<number | undefined> {
  await lockSales(tx, settings)
  const drafts = await store.lockDrafts(tx, { after: 0, ...waiting, limit: BATCH })
  const ids = drafts.map(({ affiliate_id }) => affiliate_id)
  await lockSales(tx, settings, ids)
  await postTogether(tx, async () => {
    for (const draft of drafts) await rejudgeDraft(tx, settings, draft)
  })
  return drafts.length < BATCH ? undefined : drafts.at(-1)!.id
}

/**
 * Judges the drafts of an affiliate again after a change of their terms: one batch now, the rest in the background.
 * @returns whether there were any
 */
export async function rejudgeDraftsOf(
  tx: WriteTx,
  context: RequestContext,
  affiliateId: number,
): Promise<boolean> {
  if (!(await store.hasDrafts(tx, affiliateId))) return false
  const rest = await rejudgeDrafts(tx, await context.settings.lock(tx), { affiliateId })
  if (rest !== undefined) await markRules(tx, context.database.engine)
  return true
}

/** Judges all drafts again, in several transactions, if a rule or the default rate has changed since the last time. */
export function draftRejudger(context: RequestContext, isClosed: () => boolean): () => Promise<void> {
  let judgedState = ''
  return async () => {
    const state = await stateOf(context)
    if (state === judgedState) return
    let after: number | undefined = 0
    while (after !== undefined) {
      if (isClosed()) return
      const begin: number = after
      after = await write(context, async tx =>
        rejudgeDrafts(tx, await context.settings.lock(tx), { after: begin }),
      )
    }
    judgedState = state
  }
}

/** Differs after each change that drafts may be waiting for. */
async function stateOf({ settings }: RequestContext): Promise<string> {
  const { rulesVersion, currency, defaultRate, defaultRateType } = await settings.current()
  return [rulesVersion, currency, defaultRate, defaultRateType].join(' ')
}

/**
 * Judges a draft again.
 * @param cause the reason of its transfers, if it is not that the missing rate or rule was created
 * @returns the referral as it is then
 */
export async function rejudgeDraft(
  tx: WriteTx,
  settings: Settings,
  before: Referral,
  cause?: Reason,
): Promise<Referral> {
  const calculation = parseCalculation(before.calculation)
  if (!calculation?.wanted) return before
  const { sale, wanted, left, duplicate, earner } = calculation
  const { affiliate_id: affiliateId, created_at: at } = before
  const currency = sale?.currency ?? before.original_currency
  const orderTotal = sale && sale.kind !== 'lead' ? Number(sale.amount) : null
  const draft = { affiliateId, currency, at, orderTotal }
  const commission = await commissionOfDraft(tx, settings, draft, calculation)
  if (!commission) return before
  if (commission === 'too_large') return sayTooLarge(tx, settings, before)
  const isTakenBack = left.numerator === 0n
  const standing = {
    ...standingOf(wanted, commission.judgement, at),
    ...(isTakenBack && { status: 'rejected' as const, reason: duplicate ? DUPLICATE : REFUNDED }),
  }
  const after = await store.referrals.update(tx, before, {
    ...columnsOf(commission, {
      sale,
      wanted: null,
      left,
      ...(duplicate && { duplicate }),
      ...(earner && { earner }),
    }),
    ...standing,
    // A rejected referral leaves its reference to others.
    ...(standing.status === 'rejected' && { unique_reference: 0 }),
    ...(orderTotal !== null && { order_total: commission.orderTotal }),
    amount: commission.amount,
    updated_at: now(),
  })
  const reason = cause ?? (before.reason === 'no_rule' ? 'rule.create' : 'exchange_rate.create')
  await finish(tx, actionOf(before.status, after.status), { before, after }, settings, { reason })
  return after
}

/** The draft remains, until a person gives it an amount; its reason is no longer that a rate or a rule is missing. */
async function sayTooLarge(tx: WriteTx, settings: Settings, before: Referral): Promise<Referral> {
  if (before.reason === 'too_large') return before
  const after = await store.referrals.update(tx, before, { reason: 'too_large', updated_at: now() })
  await finish(tx, 'referral.edit', { before, after }, settings)
  return after
}

function standingOf(
  { status, holdUntil: until, byHold }: Target,
  judgement: Judgement,
  at: number,
): Pick<Referral, 'status' | 'hold_until'> & Partial<Pick<Referral, 'reason'>> {
  const hold = until ?? holdUntil(judgement, at)
  if (isEnded(judgement.parts) && (byHold || status === null)) {
    return { status: 'rejected', hold_until: null, reason: ENDED }
  }
  const isHeld = byHold ? hold !== null && hold > now() : !isOwedAtOnce(judgement)
  const become = (byHold ? null : status) ?? (isHeld ? 'pending' : 'unpaid')
  return { status: become, hold_until: become === 'pending' ? hold : null }
}

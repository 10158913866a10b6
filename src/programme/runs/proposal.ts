/**
 * Decides who is in a payout run, and why an affiliate is not. Pure: from the facts about an affiliate it derives an item. On
 * approval the decision is made again, and has to be the same.
 */
import { amountText, decimalText, MAX_AMOUNT, toUnits } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { counted } from '../../base/words.ts'
import { storedSum } from '../../storage/sums.ts'
import { itemDigest } from './digest.ts'
import { formatOf } from './formats/formats.ts'
import type { Item, Reason } from './item.ts'
import { shortReferenceOf } from './references.ts'
import { leftOutOf, type Run } from './run.ts'
import { besideText } from './words.ts'

/** The unpaid referrals of an affiliate that are in no run, up to the cut-off. */
export interface OwedSum {
  readonly amount: bigint
  readonly count: number
  /** SHA-256 of their identifiers and amounts. */
  readonly digest: string
  /** What earnings after the cut-off come to; undefined when there are none. */
  readonly later?: bigint | undefined
}

export const nothing: OwedSum = { amount: 0n, count: 0, digest: '' }

/** Who is paid and where to, as far as the method needs it. */
export interface Payee {
  readonly name: string
  readonly account: string
  readonly detailsId: number
  readonly problem?: { readonly reason: Reason; readonly note: string }
}

export const nobody: Payee = { name: '', account: '', detailsId: 0 }

export interface Facts {
  readonly affiliateId: number
  /** Undefined when the affiliate was deleted. */
  readonly status: 'active' | 'inactive' | 'pending' | 'rejected' | undefined
  /** Null for none. */
  readonly groupId: number | null
  readonly owed: OwedSum
  /** Whether a referral is still pending. */
  readonly waiting: boolean
  /** What payouts that name no referrals have paid, beyond what another system has earned. */
  readonly paidBeside: bigint
  readonly payee: Payee
}

/** The decision for one affiliate. */
export type Proposal = Pick<
  Item,
  | 'affiliate_id'
  | 'status'
  | 'reason'
  | 'amount'
  | 'referrals'
  | 'reference'
  | 'payee_name'
  | 'payee_account'
  | 'details_id'
  | 'note'
  | 'digest'
>

type Terms = Pick<Run, 'id' | 'reference' | 'method' | 'group_id' | 'minimum' | 'left_out'>

/** Decides whether a run pays an affiliate, and what, from the facts about them. */
export function proposalOf(run: Terms, facts: Facts, settings: Settings): Proposal {
  const { affiliateId, owed, payee, paidBeside } = facts
  const out = exclusionOf(run, facts, settings)
  const paid = { payee_name: payee.name, payee_account: payee.account, details_id: payee.detailsId }
  return {
    affiliate_id: affiliateId,
    status: out ? 'excluded' : 'included',
    reason: out?.reason ?? '',
    note: out?.note ?? warningOf(paidBeside, settings),
    amount: storedSum(owed.amount),
    referrals: owed.count,
    reference: referenceOf(run, affiliateId),
    ...paid,
    digest: itemDigest([owed.digest, String(paidBeside)], paid),
  }
}

function warningOf(paidBeside: bigint, { decimals, currency }: Settings): string {
  return paidBeside === 0n ? '' : besideText(amountText(paidBeside, { decimals, currency }))
}

/** The notes of reasons that say the same of everybody. */
const sentences = {
  left_out: 'Somebody left this affiliate out of the run.',
  deleted: 'The affiliate was deleted: what is still owed can be paid by a payout of its own.',
  other_group: 'The affiliate is not in the group that this run pays.',
  on_hold:
    'All that is earned, and is in no other payout run, waits for approval, or for the end of its hold.',
  nothing_owed: 'What is owed, and is in no other payout run, comes to 0.',
  negative: 'More was taken back than is owed: it is carried to the next run.',
  too_large: 'More is owed than one payment may be: pay it by payouts of its own.',
  no_payment_details:
    'There are no payment details for this method: a run that is prepared after they are entered pays what is owed.',
  cancelled: 'The run was cancelled: what it had reserved is owed as before.',
} as const satisfies Partial<Record<Reason, string>>

/** Excludes somebody for a reason that needs no further words. */
export const excludedFor = (reason: keyof typeof sentences) => ({ reason, note: sentences[reason] })

/** Of whom nothing is paid, whatever they are owed. */
function exclusionOfPerson(
  { left_out, group_id }: Terms,
  { affiliateId, status, groupId }: Facts,
): Payee['problem'] {
  if (leftOutOf({ left_out }).includes(affiliateId)) return excludedFor('left_out')
  if (status === undefined) return excludedFor('deleted')
  if (status === 'pending' || status === 'rejected') {
    return {
      reason: 'not_active',
      note: `The affiliate is ${status}: only those that are active or inactive are paid.`,
    }
  }
  return group_id === 0 || groupId === group_id ? undefined : excludedFor('other_group')
}

function exclusionOf(run: Terms, facts: Facts, settings: Settings): Payee['problem'] {
  const person = exclusionOfPerson(run, facts)
  if (person) return person
  const { minimum, method } = run
  const { owed, waiting, payee } = facts
  if (owed.amount === 0n && owed.later) {
    const carried = decimalText(owed.later, settings.decimals)
    return {
      reason: 'after_cut_off',
      note: `All that is owed, ${carried} ${settings.currency}, was earned after the cut-off: it is carried to the next run.`,
    }
  }
  if (owed.count === 0) return excludedFor(waiting ? 'on_hold' : 'nothing_owed')
  if (owed.amount < 0n) return excludedFor('negative')
  if (owed.amount === 0n) return excludedFor('nothing_owed')
  if (owed.amount < BigInt(minimum)) {
    return {
      reason: 'below_minimum',
      note: `What this run could pay, ${amountText(owed.amount, settings)}, is less than the minimum: it is carried to the next run.`,
    }
  }
  if (owed.amount > mostOf(method, settings)) return excludedFor('too_large')
  const unfit = formatOf(method).problemOfAmount?.(owed.amount, settings)
  if (unfit !== undefined) return { reason: 'unfit_amount', note: unfit }
  return payee.problem
}

/** The limit of payouts, and of the method's files. */
function mostOf(method: Run['method'], { decimals }: Settings): bigint {
  const most = BigInt(toUnits(MAX_AMOUNT, decimals) ?? Number.MAX_SAFE_INTEGER)
  const { mostAmount = most } = formatOf(method)
  return mostAmount < most ? mostAmount : most
}

/** Of a payment: for example 'R12KQXTA345', the same on every call. */
export function referenceOf(
  { id, reference, method }: Pick<Run, 'id' | 'reference' | 'method'>,
  affiliateId: number,
): string {
  const { mostReference = Number.POSITIVE_INFINITY } = formatOf(method)
  const whole = `${reference}A${affiliateId}`
  return whole.length <= mostReference ? whole : `${shortReferenceOf(id)}A${affiliateId}`
}

/** Whether the earlier decision still stands. */
export function isSame(before: Proposal, now: Proposal): boolean {
  if (before.status === 'excluded') return now.status === 'excluded'
  return (
    before.status === now.status &&
    before.reason === now.reason &&
    before.amount === now.amount &&
    before.digest === now.digest &&
    before.payee_name === now.payee_name &&
    before.payee_account === now.payee_account &&
    before.details_id === now.details_id
  )
}

/** What has changed about an item, for the person who is approving it. */
export function differenceOf(before: Proposal, now: Proposal, settings: Settings): string {
  if (before.status === 'excluded') return 'can be paid by now, and is left out.'
  if (now.status === 'excluded') {
    return `is left out now. ${now.note}`
  }
  if (before.amount !== now.amount || before.referrals !== now.referrals) {
    const [was, is] = [before, now].map(({ amount, referrals }) => {
      const sum = amountText(BigInt(amount), settings)
      return `${sum} for ${counted(referrals, 'referral')}`
    })
    return `is owed another amount, or for other referrals: ${is}, where it was ${was}.`
  }
  if (before.note !== now.note) {
    return `was paid otherwise meanwhile, or no longer is. ${now.note}`.trim()
  }
  const isPaidElsewhere = (['payee_name', 'payee_account', 'details_id'] as const).some(
    name => before[name] !== now[name],
  )
  return isPaidElsewhere
    ? 'is paid by other details.'
    : 'is owed the same amount for other referrals, or for other amounts of them.'
}

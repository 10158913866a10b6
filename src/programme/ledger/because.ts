/** Says in words why a transfer was posted: the one place with this wording. */
import { past } from '../../base/words.ts'
import type { ItemStatus } from '../runs/item.ts'
import type { Standing, Transfer } from './store.ts'

type Posted = Pick<Transfer, 'reason' | 'debit' | 'credit'> & Standing

const texts: Readonly<Record<string, string>> = {
  'referral.create': 'referral recorded',
  'referral.edit': 'referral corrected',
  'referral.pay': 'referral marked as paid',
  'conversion.refund': 'refund of a sale',
  'conversion.dispute': 'disputed sale',
  'conversion.dispute_won': 'dispute of a sale won',
  'conversion.duplicate': 'sale reported twice',
  'exchange_rate.create': 'exchange rate entered',
  'rule.create': 'commission rule saved',
  'payout_run.approve': 'reserved by a payout run',
  'payout_run.refuse': 'payout run not approved',
  'payout_run.cancel': 'payout run cancelled',
  'payout.create': 'payout recorded',
  'payout.edit': 'payout corrected',
}

const corrections: Readonly<Record<string, string>> = { refund: 'refund recorded', write_off: 'write-off' }

/** What became of a payment that a run made. */
const failures: Readonly<Partial<Record<ItemStatus, string>>> = {
  failed: 'payout failed',
  returned: 'payout returned',
}

/** @returns for example 'refund of a sale', without identifiers */
export function becauseOf(transfer: Posted): string {
  const { reason, debit, credit, referral_type, payout_status, item_status } = transfer
  const isBack = payout_status === 'failed' && (debit === 'paid_out' || credit === 'unpaid')
  if (isBack) return failures[item_status ?? 'failed'] ?? 'payout failed'
  if (reason === 'referral.create' && referral_type) return corrections[referral_type] ?? texts[reason]!
  const [kind = '', verb = ''] = reason.split('.')
  return texts[reason] ?? `${kind} ${past(verb)}`.replaceAll('_', ' ')
}

/** @returns for example 'refund of a sale, referral 13' or 'payout 5 failed' */
export function numberedBecauseOf(transfer: Posted & Pick<Transfer, 'referral_id' | 'payout_id'>): string {
  const { referral_id, payout_id } = transfer
  let text = becauseOf(transfer)
  for (const [name, id] of Object.entries({ referral: referral_id, payout: payout_id })) {
    if (!id) continue
    text = isAbout(text, name) ? text.replace(name, `${name} ${id}`) : `${text}, ${name} ${id}`
  }
  return text
}

const isAbout = (text: string, name: string) => text.startsWith(`${name} `) && !text.startsWith(`${name} run`)

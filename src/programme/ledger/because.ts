/** Why transfers are posted, and the words for it: the one place with both. Pure, and also used in the browser. */
import { past } from '../../base/words.ts'

interface Meaning {
  readonly words: string
  /** Of a referral, where it follows from no report: a person, an exchange rate or a rule moves it. */
  readonly isCorrection?: true
}

const reasons = {
  'referral.create': { words: 'referral recorded' },
  'referral.refund': { words: 'refund recorded' },
  'referral.write_off': { words: 'write-off' },
  'referral.edit': { words: 'referral corrected', isCorrection: true },
  'referral.approve': { words: 'referral approved', isCorrection: true },
  'referral.reject': { words: 'referral rejected', isCorrection: true },
  'referral.pay': { words: 'referral marked as paid', isCorrection: true },
  'referral.delete': { words: 'referral deleted' },
  'conversion.refund': { words: 'refund of a sale' },
  'conversion.dispute': { words: 'disputed sale' },
  'conversion.dispute_won': { words: 'dispute of a sale won' },
  'conversion.duplicate': { words: 'sale reported twice' },
  'exchange_rate.create': { words: 'exchange rate entered', isCorrection: true },
  'rule.create': { words: 'commission rule saved', isCorrection: true },
  'payout_run.approve': { words: 'reserved by a payout run' },
  'payout_run.refuse': { words: 'payout run not approved' },
  'payout_run.cancel': { words: 'payout run cancelled' },
  'payout.create': { words: 'payout recorded' },
  'payout.edit': { words: 'payout corrected' },
  'payout.fail': { words: 'payout failed' },
  'payout.return': { words: 'payout returned' },
  'payout.delete': { words: 'payout deleted' },
} as const satisfies Record<string, Meaning>

export type Reason = keyof typeof reasons

const meanings: ReadonlyMap<string, Meaning> = new Map(Object.entries(reasons))

export const correcting = [...meanings].flatMap(([reason, { isCorrection }]) =>
  isCorrection ? [reason] : [],
)

interface Worded {
  readonly reason: string
  readonly debit: string
  readonly credit: string
}

/** @returns for example 'refund of a sale', without identifiers, which stays so whatever becomes of the record behind it */
export function wordsOf({ reason, debit, credit }: Worded): string {
  const [kind = '', verb = ''] = reason.split('.')
  const words = meanings.get(reason)?.words ?? `${kind} ${past(verb)}`.replaceAll('_', ' ')
  // Of a payout that pays another amount than its referrals come to.
  return [debit, credit].includes('difference') ? `${words}: difference to its referrals` : words
}

interface Numbered extends Worded {
  readonly referral_id: number | null
  readonly payout_id: number | null
  readonly payout_run_id: number | null
}

/** @returns for example 'refund of a sale, referral 13', 'payout 5 failed' or 'reserved by payout run 3' */
export function numberedWordsOf(transfer: Numbered): string {
  const { referral_id, payout_id, payout_run_id: run } = transfer
  let text = wordsOf(transfer)
  for (const [name, id] of Object.entries({ referral: referral_id, payout: payout_id })) {
    if (!id) continue
    text = isAbout(text, name) ? text.replace(name, `${name} ${id}`) : `${text}, ${name} ${id}`
  }
  if (!run) return text
  return namesRun(text)
    ? text.replace(/(?:a )?payout run/, `payout run ${run}`)
    : `${text}, payout run ${run}`
}

/** Whether the words speak of the run, so that its number belongs to them. */
export const namesRun = (words: string): boolean => words.includes('payout run')

/** Whether the words begin with the kind of record, so that its number belongs to them. */
export const isAbout = (words: string, name: string): boolean =>
  words.startsWith(`${name} `) && !words.startsWith(`${name} run`)

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
  'rule.create': { words: 'commission rule or rate saved', isCorrection: true },
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

/** The records behind a transfer; null or 0 for none. */
interface Numbers {
  readonly referral_id: number | null
  readonly payout_id: number | null
  readonly payout_run_id: number | null
}

/** The number of a record among the words. */
interface Numbered {
  readonly kind: 'referral' | 'payout' | 'payout_run'
  readonly id: number
}

/**
 * The words of a transfer with the numbers of its records: that of the record which the words speak of follows its name
 * there, and the others stand at the end.
 */
export function withNumbers(words: string, numbers: Numbers): (string | Numbered)[] {
  const records = [
    { kind: 'referral', name: 'referral', id: numbers.referral_id, place: /^referral\b/ },
    { kind: 'payout', name: 'payout', id: numbers.payout_id, place: /^payout\b(?! run)/ },
    { kind: 'payout_run', name: 'payout run', id: numbers.payout_run_id, place: /(?:\ba )?\bpayout run\b/ },
  ] as const
  const spoken = records.find(({ id, place }) => id && place.test(words))
  const [before = '', after = ''] = spoken ? words.split(spoken.place) : [words]
  const parts: (string | Numbered)[] = spoken
    ? [`${before}${spoken.name} `, { kind: spoken.kind, id: spoken.id! }, after]
    : [before]
  for (const { kind, name, id } of records)
    if (id && kind !== spoken?.kind) parts.push(`, ${name} `, { kind, id })
  return parts
}

/** @returns for example 'refund of a sale, referral 13', 'payout 5 failed' or 'reserved by payout run 3' */
export const numberedWordsOf = (transfer: Worded & Numbers): string =>
  withNumbers(wordsOf(transfer), transfer)
    .map(part => (typeof part === 'string' ? part : part.id))
    .join('')

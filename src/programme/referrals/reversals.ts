/** Refunds and disputes in words. Pure. */
import { decimalsOf } from '../../base/currencies.ts'
import { decimalText } from '../../base/money.ts'
import { formatDay } from '../../base/time.ts'

/** A refund, a dispute, or its end, as it was reported. */
export interface ReportedReversal {
  readonly id: number
  readonly kind: string
  /** In the minor unit of its currency. */
  readonly amount: number
  readonly currency: string
  readonly cumulative: number
  readonly occurred_at: number
}

/** The most that are named one by one. */
const MOST_NAMED = 50

/** 'There was a refund of 20.00 USD on 2026-01-05 (conversion 7).' */
export function sentencesOfReversals(reversals: readonly ReportedReversal[]): string[] {
  // Some shops report, with each change of an order, a disputed total of 0.
  const isDisputed = reversals.some(({ kind, amount }) => kind === 'dispute' && amount > 0)
  return reversals
    .filter(reversal => isDisputed || reversal.kind !== 'dispute' || !isTotal(reversal))
    .slice(0, MOST_NAMED)
    .map(reversal => `There ${isTotal(reversal) ? 'were' : 'was'} ${reversalText(reversal)}.`)
}

/** About reports that came before their sale, and in another currency. */
export function sentencesOfStrange(
  reversals: readonly Pick<ReportedReversal, 'kind' | 'amount' | 'currency'>[],
  ofSale: string,
): string[] {
  return reversals
    .filter(({ currency }) => currency !== ofSale)
    .slice(0, MOST_NAMED)
    .map(({ kind, amount, currency }) => {
      const sum = `${decimalText(amount, decimalsOf(currency) ?? 0)} ${currency}`
      return `A ${kind} of ${sum} ${strangeText(ofSale)}`
    })
}

/** The end of a sentence about such a report: what it would be in the currency of the sale is not known. */
export const strangeText = (ofSale: string): string =>
  `takes nothing back, because the sale is in ${ofSale}: report it once more in ${ofSale}, with a part of its own.`

/** Whether it reports the total of all refunds, or of all disputes, up to its time. */
const isTotal = ({ kind, cumulative }: ReportedReversal) => kind !== 'dispute_won' && cumulative === 1

/** 'a refund of 20.00 USD on 2026-01-05 (conversion 7)', or 'refunds of 20.00 USD in all by 2026-01-05 (conversion 7)' */
export function reversalText(reversal: ReportedReversal): string {
  const { id, kind, amount, currency, occurred_at } = reversal
  const sum = `${decimalText(amount, decimalsOf(currency) ?? 0)} ${currency}`
  const day = formatDay(occurred_at)
  const of = `(conversion ${id})`
  if (kind === 'dispute_won') return `a dispute that was won on ${day} ${of}`
  return isTotal(reversal)
    ? `${kind}s of ${sum} in all by ${day} ${of}`
    : `a ${kind} of ${sum} on ${day} ${of}`
}

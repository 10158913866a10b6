/** Statuses and methods of payout runs, and words about their results. Pure, and also used in the browser. */

export const runStatuses = ['draft', 'approving', 'approved', 'sent', 'closed', 'cancelled'] as const

export const methods = ['csv', 'paypal', 'sepa', 'nacha'] as const
type Method = (typeof methods)[number]

/**
 * Those that any of PayPal's lists has, also for accounts of some countries alone. After "PayPal supported currencies" and
 * "Payouts country and currency codes" on https://developer.paypal.com
 */
const OF_PAYPAL =
  'AUD BRL CAD CHF CNY CZK DKK EUR GBP HKD HUF IDR ILS INR JPY MXN MYR NOK NZD PHP PLN RUB SEK SGD THB TWD USD'

/** The currencies that the files of a method are for; any when omitted. */
export const currenciesOf: Readonly<Partial<Record<Method, readonly string[]>>> = {
  paypal: OF_PAYPAL.split(' '),
  sepa: ['EUR'],
  nacha: ['USD'],
}
export const isFor = (method: Method, currency: string): boolean =>
  currenciesOf[method]?.includes(currency) ?? true

/** The methods whose file is an order to a bank: it names the payer, and the day on which to pay. */
const bankOrders: readonly string[] = ['sepa', 'nacha']
export const isBankOrder = (method: string): boolean => bankOrders.includes(method)

/** Whether payees get their money by this file of a run, not by another one, beside which it is there to read. */
export const isPaidBy = ({ method }: { readonly method: Method }, format: string) => format === method

export const itemStatuses = [
  'included',
  'excluded',
  'reserved',
  'paid',
  'failed',
  'returned',
  'unknown',
] as const

/** The statuses of payments that were handed over, or are about to be, and whose outcome is not known. */
export const openStatuses = ['reserved', 'unknown'] as const
/** Whether the outcome of a payment is not known. */
export const isOpen = ({ status }: { readonly status: (typeof itemStatuses)[number] }): boolean =>
  openStatuses.some(one => one === status)

/** How many persons a run takes. */
export const approvals = ['one', 'two'] as const

type Approval = (typeof approvals)[number]

/** The stricter of the run's setting and the present one counts. */
export const approvalOf = (ofRun: Approval, present: Approval): Approval =>
  ofRun === 'two' || present === 'two' ? 'two' : 'one'

/** Why an affiliate with a balance is not paid. */
export const reasons = [
  'left_out',
  'deleted',
  'not_active',
  'other_group',
  'on_hold',
  'after_cut_off',
  'nothing_owed',
  'negative',
  'below_minimum',
  'too_large',
  'unfit_amount',
  'no_payment_details',
  'details_too_new',
  'unfit_details',
  'cancelled',
] as const

const BESIDE = 'Beside this, '

/** Whoever records a payment by hand, and names no referrals, leaves owed what they may have meant to pay. */
export const besideText = (amount: string): string =>
  `${BESIDE}${amount} was paid by payouts that name no referrals.`

/** Whether the service has written the note of an item, and not whoever has reported what became of the payment. */
export const isOwnNote = ({
  note,
  settled_at,
}: {
  readonly note: string
  readonly settled_at: string
}): boolean => settled_at === '' || note.startsWith(BESIDE)

/** An answer names at most so many payees or lines of each kind. */
export const MOST_NAMED = 100

export const MOST_FILE_NAME = 200

/** The name of a file of results as the history of a run takes it: any name as a single line. */
export const fileNameOf = (name: string) =>
  name
    .replace(/[\p{Cc}\p{Cf}\p{Cs}]+/gu, ' ')
    .trim()
    .slice(0, MOST_FILE_NAME)

/** @returns what a report of results adds for the lines that nothing was recorded of */
export function unrecordedText({
  conflicts,
  unknown_references: unknown,
}: {
  readonly conflicts: readonly unknown[]
  readonly unknown_references: readonly unknown[]
}): string {
  const lines = conflicts.length + unknown.length
  if (lines === 0) return ''
  if (lines === 1) return '; nothing of one other line'
  const isMore = Math.max(conflicts.length, unknown.length) >= MOST_NAMED
  return `; nothing of ${isMore ? 'at least ' : ''}${lines} other lines`
}

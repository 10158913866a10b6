/**
 * The file of a PayPal mass payment: no line of names; address, amount, currency, identifier, note. After PayPal's
 * description "Create and upload a payment file" (Payouts on the web): at most 5,000 payees, one currency.
 */
import { csvLine } from '../../../base/csv.ts'
import { decimalText } from '../../../base/money.ts'
import type { Format, Frame } from './format.ts'

/**
 * Currencies that PayPal takes without decimals, unlike ISO 4217; an amount that has any is an error there. After
 * https://developer.paypal.com/docs/api/reference/currency-codes/
 */
const WITHOUT_DECIMALS = ['HUF', 'TWD']

/** Of an address, after the reference of the Payouts API. */
const MOST_ADDRESS = 127

const unitOf = ({ currency, decimals }: Pick<Frame, 'currency' | 'decimals'>): bigint =>
  WITHOUT_DECIMALS.includes(currency) ? 10n ** BigInt(decimals) : 1n

/** Runs that were approved earlier may have other amounts, which stay as they are. */
function amountIn(frame: Frame, amount: number): string {
  const unit = unitOf(frame)
  const isWhole = unit !== 1n && BigInt(amount) % unit === 0n
  return isWhole ? String(BigInt(amount) / unit) : decimalText(amount, frame.decimals)
}

export const paypal: Format = {
  name: 'paypal',
  extension: 'csv',
  contentType: 'text/csv; charset=utf-8',
  most: 5000,
  problemOfAmount: (amount, money) =>
    amount % unitOf(money) === 0n
      ? undefined
      : `PayPal takes ${money.currency} without decimals: pay it by another method, or write off what is behind the point.`,
  problemOfAccount: address =>
    address.length <= MOST_ADDRESS
      ? undefined
      : `The address is longer than ${MOST_ADDRESS} characters, which PayPal allows.`,
  async *write(frame, lines) {
    const { currency, run } = frame
    for await (const batch of lines()) {
      yield batch
        .map(({ account, payee_account, amount, reference }) =>
          csvLine([
            account.paypalEmail ?? payee_account,
            amountIn(frame, amount),
            currency,
            reference,
            run.note,
          ]),
        )
        .join('')
    }
  },
}

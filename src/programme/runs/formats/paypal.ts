/**
 * The file of a PayPal mass payment: no line of names; address, amount, currency, identifier, note. After PayPal's
 * description "Create and upload a payment file" (Payouts on the web): at most 5,000 payees, one currency.
 */
import { csvLine } from '../../../base/csv.ts'
import { decimalText } from '../../../base/money.ts'
import type { Format } from './format.ts'

export const paypal: Format = {
  name: 'paypal',
  extension: 'csv',
  contentType: 'text/csv; charset=utf-8',
  most: 5000,
  async *write({ run, currency, decimals }, lines) {
    for await (const batch of lines()) {
      yield batch
        .map(({ account, payee_account, amount, reference }) =>
          csvLine([
            account.paypalEmail ?? payee_account,
            decimalText(amount, decimals),
            currency,
            reference,
            run.note,
          ]),
        )
        .join('')
    }
  },
}

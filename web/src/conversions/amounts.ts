import type { SentLine } from '../../../src/programme/conversions/conversion.ts'
import { formatMoney } from '../ui/format.ts'
import type { Conversion } from './conversion.ts'

/** In the conversion's own currency, which may differ from the programme's. */
export function amountText({ amount, currency, kind }: Conversion): string {
  return kind === 'attribution' ? '–' : formatMoney(amount, currency)
}

/** For example '2 × Desk lamp (light), $85.00'. */
export function lineText({ product, category, quantity = 1, amount }: SentLine, currency: string): string {
  const what = `${quantity} × ${product || 'Product'}${category ? ` (${category})` : ''}`
  return amount === undefined ? what : `${what}, ${formatMoney(amount, currency)}`
}

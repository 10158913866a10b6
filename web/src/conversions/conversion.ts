import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { conversion, SentLine } from '../../../src/programme/conversions/conversion.ts'
import { capital } from '../names.ts'

export type Conversion = Static<(typeof conversion)['record']> & RaRecord<number>

export const kinds: Conversion['kind'][] = [
  'lead',
  'sale',
  'renewal',
  'refund',
  'dispute',
  'dispute_won',
  'attribution',
]

export const titleOf = ({ kind, reference }: Conversion) => `${capital(kind)} ${reference}`

export const nameOf = ({ id }: Pick<Conversion, 'id'>) => `Conversion ${id}`

/** Whether an affiliate could be credited for it, but none is. */
export const isUnattributed = ({ kind, affiliate_id }: Conversion) =>
  affiliate_id === 0 && (kind === 'lead' || kind === 'sale' || kind === 'renewal')

/** In the conversion's own currency, which may differ from the programme's. */
export function amountText({ amount, currency, kind }: Conversion): string {
  return kind === 'attribution' ? '–' : moneyText(amount, currency)
}

export const moneyText = (amount: number, currency: string) =>
  new Intl.NumberFormat(undefined, { style: 'currency', currency }).format(amount)

/** For example '2 × Desk lamp (light), $85.00'. */
export function lineText({ product, category, quantity = 1, amount }: SentLine, currency: string): string {
  const what = `${quantity} × ${product || 'Product'}${category ? ` (${category})` : ''}`
  return amount === undefined ? what : `${what}, ${moneyText(amount, currency)}`
}

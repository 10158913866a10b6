import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import { type SaleKind, kinds as saleKinds } from '../../../src/programme/commission/sale.ts'
import type { conversion } from '../../../src/programme/conversions/conversion.ts'
import { capital } from '../ui/words.ts'

export type Conversion = Static<(typeof conversion)['record']> & RaRecord<number>

/** One that is missing does not compile. */
const otherKinds = Object.keys({
  refund: true,
  dispute: true,
  dispute_won: true,
  attribution: true,
} satisfies Record<Exclude<Conversion['kind'], SaleKind>, true>)

export const kinds: readonly string[] = [...saleKinds, ...otherKinds]

export const titleOf = ({ kind, reference }: Conversion) => `${capital(kind)} ${reference}`

export const nameOf = ({ id }: Pick<Conversion, 'id'>) => `Conversion ${id}`

/** Whether an affiliate could be credited for it, but none is. */
export const isUnattributed = ({ kind, affiliate_id }: Conversion) =>
  affiliate_id === 0 && (kind === 'lead' || kind === 'sale' || kind === 'renewal')

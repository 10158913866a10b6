import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { conversion } from '../../../src/programme/conversions/conversion.ts'
import { capital } from '../ui/words.ts'

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

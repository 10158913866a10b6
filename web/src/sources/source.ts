import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { source } from '../../../src/programme/sources/source.ts'

export type Source = Static<(typeof source)['record']> & RaRecord<number>

export const types: Record<Source['type'], string> = {
  stripe: 'Stripe',
  woocommerce: 'WooCommerce',
  generic: 'One of your own',
}

export const nameOf = ({ id, name }: Pick<Source, 'id' | 'name'>) => name || `Source ${id}`

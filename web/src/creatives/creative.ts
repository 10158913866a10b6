import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { creative } from '../../../src/programme/creatives/creative.ts'

export type Creative = Static<(typeof creative)['record']> & RaRecord<number>

/** One that is missing does not compile. */
export const statuses = Object.keys({
  active: true,
  inactive: true,
} satisfies Record<Creative['status'], true>)

export const nameOf = ({ id, name }: Creative) => name || `Creative ${id}`

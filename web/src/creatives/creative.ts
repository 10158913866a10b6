import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { creative } from '../../../src/programme/creatives/creative.ts'

export type Creative = Static<(typeof creative)['record']> & RaRecord<number>

export const statuses: Creative['status'][] = ['active', 'inactive']

export const nameOf = ({ id, name }: Creative) => name || `Creative ${id}`

import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { group } from '../../../src/programme/groups/group.ts'

export type Group = Static<(typeof group)['record']> & RaRecord<number>

export const nameOf = ({ name }: Group) => name

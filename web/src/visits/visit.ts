import type { RaRecord } from 'react-admin'
import type { Static } from 'typebox'
import type { visit } from '../../../src/programme/visits/visit.ts'

export type Visit = Static<(typeof visit)['record']> & RaRecord<number>

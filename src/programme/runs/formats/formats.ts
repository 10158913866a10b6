/** The kinds of payment file that there are. */
import { csv } from './csv.ts'
import type { Format } from './format.ts'

export const formats: readonly Format[] = [csv]

/** All formats of payment files. */
import type { Method } from '../run.ts'
import { csv } from './csv.ts'
import type { Format } from './format.ts'
import { nacha } from './nacha.ts'
import { paypal } from './paypal.ts'
import { sepa } from './sepa.ts'

/** What the payees of each method are paid by. */
const byMethod: Readonly<Record<Method, Format>> = { csv, paypal, sepa, nacha }

export const formats: readonly Format[] = Object.values(byMethod)

/** The format of the file by which a method pays. */
export const formatOf = (method: Method): Format => byMethod[method]

/** The files that a run by this method has: the plain one is there to read. */
export const formatsOf = (method: Method): readonly Format[] => [...new Set([csv, byMethod[method]])]

/** All formats of payment files. */
import type { Method } from '../run.ts'
import { csv } from './csv.ts'
import type { Format } from './format.ts'
import { nacha } from './nacha.ts'
import { paypal } from './paypal.ts'
import { sepa } from './sepa.ts'

export const formats: readonly Format[] = [csv, paypal, sepa, nacha]

/** The format for a method; the plain one where there is none. */
export function formatOf(method: Method): Format {
  return formats.find(format => format.method === method) ?? csv
}

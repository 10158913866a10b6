/** The kinds of payment file that there are. */
import type { Method } from '../run.ts'
import { csv } from './csv.ts'
import type { Format } from './format.ts'
import { nacha } from './nacha.ts'
import { paypal } from './paypal.ts'
import { sepa } from './sepa.ts'

export const formats: readonly Format[] = [csv, paypal, sepa, nacha]

/** The format that a method is made for; the plain one is for whatever is left. */
export function formatOf(method: Method): Format {
  return formats.find(format => format.method === method) ?? csv
}

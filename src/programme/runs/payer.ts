/** The payer of a run, and whether the files of its method can name it. */
import type { Problems } from '../../base/errors.ts'
import type { Settings } from '../../base/settings.ts'
import { conflict } from './conflict.ts'
import { isFormula, type Payer } from './formats/format.ts'
import { formatOf } from './formats/formats.ts'
import type { Run } from './run.ts'
import { currenciesOf, isFor } from './words.ts'

function payerOf({ payouts }: Settings): Payer {
  const { name, iban, bic, bank, routing, companyId } = payouts
  return { name, iban, bic, bank, routing, companyId }
}

/** As a run keeps it, whose hash stands for it. */
export const storedPayer = (settings: Settings): string => JSON.stringify(payerOf(settings))

/** Who approves a run has seen the hash of the payer that it was prepared with. @throws Failure run_conflict */
export function refuseOtherPayer({ method, payer }: Pick<Run, 'method' | 'payer'>, settings: Settings): void {
  if (formatOf(method).problemsOfPayer === undefined || payer === storedPayer(settings)) return
  throw conflict('The payer in the settings has changed since the run was prepared. Prepare again.')
}

/** @throws Failure run_conflict that names the settings */
export function refuseUnpayable({ method }: Pick<Run, 'method'>, settings: Settings): void {
  if (!isFor(method, settings.currency)) {
    throw conflict(
      `Files of ${method} are in ${currenciesOf[method]?.join(', ')}, and the currency of the programme is ${settings.currency}.`,
    )
  }
  const problems = formatOf(method).problemsOfPayer?.(payerOf(settings)) ?? []
  if (problems.length > 0) {
    throw conflict(
      `Complete the payer in the settings, for files of the method ${method}. ${problems.join(' ')}`,
    )
  }
}

/** What is wrong with a note, which payees read as it is in the file. */
export function problemOfNote({ method, note }: Pick<Run, 'method' | 'note'>): Problems {
  if (isFormula(note)) return { note: 'must not be written so that a spreadsheet takes it for a formula.' }
  const problem = formatOf(method).problemOfNote?.(note)
  return problem === undefined ? {} : { note: `cannot be in a file for the bank. ${problem}` }
}

/** The payer of a run, and whether the files of its method can name it. */
import type { Settings } from '../../base/settings.ts'
import { conflict } from './conflict.ts'
import type { Payer } from './formats/format.ts'
import { formatOf } from './formats/formats.ts'
import type { Run } from './run.ts'

export function payerOf({ payouts }: Settings): Payer {
  const { name, iban, bic, bank, routing, companyId } = payouts
  return { name, iban, bic, bank, routing, companyId }
}

/** @throws Failure run_conflict that names the settings */
export function refuseUnpayable({ method, note }: Pick<Run, 'method' | 'note'>, settings: Settings): void {
  const { currency, problemsOfPayer } = formatOf(method)
  if (currency !== undefined && currency !== settings.currency) {
    throw conflict(
      `Files of ${method} are in ${currency}, and the currency of the programme is ${settings.currency}.`,
    )
  }
  const problems = problemsOfPayer?.(payerOf(settings), note) ?? []
  if (problems.length > 0) throw conflict(`Files of ${method} need more. ${problems.join(' ')}`)
}

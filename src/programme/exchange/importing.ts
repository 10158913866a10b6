/** Imports exchange rates from a CSV file, such as a bank's list. */
import { CsvError, type NamedRow, readNamed } from '../../base/csv.ts'
import { Failure } from '../../base/errors.ts'
import { now } from '../../base/time.ts'
import type { RequestContext } from '../../events/write.ts'
import { argumentsOf } from '../../http/discovery.ts'
import { exchangeRate } from './exchange-rate.ts'
import { type CreateArguments, rules } from './rules.ts'
import { rateAt } from './store.ts'

const columns = {
  of: 'exchange rates',
  known: argumentsOf({ arguments: exchangeRate.create }).map(([name]) => name),
  needed: ['from_currency', 'rate'],
}
/** Errors listed; further ones are counted. */
const MOST_ERRORS = 20

export interface ImportedRates {
  readonly lines: number
  readonly imported: number
  /** The same rate of the same currencies and moment existed already. */
  readonly existing: number
  readonly wrong: number
  readonly errors: readonly { readonly line: number; readonly message: string }[]
}

/**
 * Imports each line separately: an error does not stop the others, and importing the same file again changes nothing. A
 * line with another rate than is stored is wrong: which of the two it should be, a person has to say.
 * @param read makes arguments of a line, by the column names of the first one
 * @param ignored columns that are passed over
 * @throws CsvError if it is not a CSV file, or its first line has other columns
 */
export async function importRates(
  context: RequestContext,
  file: AsyncIterable<Buffer>,
  read: (values: NamedRow['values']) => CreateArguments,
  ignored: readonly string[],
): Promise<ImportedRates> {
  const counts = { lines: 0, imported: 0, existing: 0, wrong: 0 }
  const errors: { line: number; message: string }[] = []
  for await (const { line, values, problem } of readNamed(file, { ...columns, ignored })) {
    counts.lines++
    try {
      if (problem) throw new CsvError(line, problem)
      counts[await importRate(context, read(values))]++
    } catch (cause) {
      if (!(cause instanceof Failure || cause instanceof CsvError)) throw cause
      counts.wrong++
      if (errors.length < MOST_ERRORS) errors.push({ line, message: cause.message })
    }
  }
  return { ...counts, errors }
}

/** @throws Failure exchange_rate_exists if another rate is stored, invalid_argument */
async function importRate(context: RequestContext, args: CreateArguments): Promise<'imported' | 'existing'> {
  try {
    await rules.create(context, args)
    return 'imported'
  } catch (cause) {
    if (!(cause instanceof Failure) || cause.failure !== 'exchange_rate_exists') throw cause
    const settings = await context.settings.current()
    const row = exchangeRate.newRow({ to_currency: settings.currency, ...args }, settings, {
      time: now(),
      actor: context.actor.userId,
    })
    const of = { from: row.from_currency, to: row.to_currency, at: row.valid_from }
    const stored = await rateAt(context.database.reader, of)
    if (stored?.rate === row.rate) return 'existing'
    throw new Failure('exchange_rate_exists', { message: `${cause.message} It is ${stored?.rate} there.` })
  }
}

/** Imports exchange rates from a CSV file, such as a bank's list. */
import { CsvError, readCsv } from '../../base/csv.ts'
import { Failure } from '../../base/errors.ts'
import type { RequestContext } from '../../events/write.ts'
import { type CreateArguments, rules } from './rules.ts'

/** Errors listed; further ones are counted. */
const MOST_ERRORS = 20

export interface ImportedRates {
  readonly lines: number
  readonly imported: number
  /** A rate of the same currencies and moment existed already, and stays. */
  readonly existing: number
  readonly wrong: number
  readonly errors: readonly { readonly line: number; readonly message: string }[]
}

/**
 * Imports each line separately: an error does not stop the others, and importing the same file again changes nothing.
 * @param read makes arguments of a line, by the column names of the first one
 * @throws CsvError if it is not a CSV file, or its first line has other columns
 */
export async function importRates(
  context: RequestContext,
  file: AsyncIterable<string>,
  read: (values: Record<string, string>) => CreateArguments,
): Promise<ImportedRates> {
  const counts = { lines: 0, imported: 0, existing: 0, wrong: 0 }
  const errors: { line: number; message: string }[] = []
  let head: string[] | undefined
  for await (const { line, cells } of readCsv(file)) {
    if (!head) {
      head = headOf(line, cells)
      continue
    }
    counts.lines++
    try {
      const names = head
      await rules.create(context, read(Object.fromEntries(cells.map((cell, place) => [names[place], cell]))))
      counts.imported++
    } catch (cause) {
      if (!(cause instanceof Failure)) throw cause
      const isThere = cause.failure === 'exchange_rate_exists'
      counts[isThere ? 'existing' : 'wrong']++
      if (!isThere && errors.length < MOST_ERRORS) errors.push({ line, message: cause.message })
    }
  }
  return { ...counts, errors }
}

function headOf(line: number, cells: readonly string[]): string[] {
  const head = cells.map(cell => cell.trim().toLowerCase())
  if (head.includes('from_currency') && head.includes('rate')) return head
  throw new CsvError(
    line,
    'must name the columns: from_currency, rate, and to_currency and date where they are there.',
  )
}

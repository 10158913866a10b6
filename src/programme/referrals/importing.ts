/**
 * Imports referrals from a file. The file is read twice: first, all lines are created in transactions that are rolled back; only
 * if every line is valid, they are created for good. Lines that were imported before are skipped, so a file can be imported again.
 */
import { CsvError, type NamedRow, readNamed } from '../../base/csv.ts'
import { Failure, missingArguments } from '../../base/errors.ts'
import { foldCase } from '../../base/text.ts'
import { inTransaction, type RequestContext, writeMany } from '../../events/write.ts'
import { argumentsOf } from '../../http/discovery.ts'
import type { Tx } from '../../storage/database.ts'
import { createOrFind, lockIfJudged, withAffiliate } from './rules.ts'
import { type CreateArguments, createArguments } from './schema.ts'

const knownColumns = argumentsOf({ arguments: createArguments }).map(([name]) => name)
/** Lines per transaction. */
const AT_ONCE = 200
/** The most errors that are listed one by one. */
const MOST_ERRORS = 1000

interface LineError {
  readonly line: number
  readonly message: string
}

export interface Imported {
  lines: number
  imported: number
  /** Lines whose referral existed already. */
  existing: number
  /** How many lines are wrong. */
  wrong: number
  readonly errors: LineError[]
}

export interface ImportOptions {
  /** Opens the file; it is read twice. */
  open(): AsyncIterable<Buffer>
  /** Converts the cells of a line to arguments. @throws Failure */
  read(values: NamedRow['values']): CreateArguments
  /** Columns that are skipped. */
  readonly ignored: readonly string[]
  /** The context of the referrals for which the file names none. */
  readonly context: string
  /** Whether to validate only, and import nothing. */
  readonly dry: boolean
  progress(lines: number): void
}

/** @throws CsvError, Failure invalid_argument when the columns are wrong */
export async function importReferrals(context: RequestContext, options: ImportOptions): Promise<Imported> {
  const judgement = await goThrough(context, options, false)
  if (judgement.wrong > 0) return { ...judgement, imported: 0 }
  if (options.dry) return judgement
  return goThrough(context, options, true)
}

interface Line {
  readonly line: number
  readonly args: CreateArguments
}

/** One reading of the file. */
interface Pass {
  /** Whether to commit what is written. */
  readonly keeps: boolean
  readonly result: Imported
  /** The first line with each combination of affiliate, context, reference and type. */
  readonly lineOfKey: Map<string, number>
}

async function goThrough(context: RequestContext, options: ImportOptions, keeps: boolean): Promise<Imported> {
  const result: Imported = { lines: 0, imported: 0, existing: 0, wrong: 0, errors: [] }
  const pass: Pass = { keeps, result, lineOfKey: new Map() }
  let batch: Line[] = []
  const flush = async () => {
    await importBatch(context, batch, pass)
    batch = []
    options.progress(result.lines)
  }
  const columns = { of: 'referrals', known: knownColumns, needed: [], ignored: options.ignored }
  for await (const row of readNamed(options.open(), columns)) {
    result.lines += 1
    const line = attempt(result, row.line, () => argumentsIn(row, options))
    if (line) batch.push({ line: row.line, args: line })
    if (batch.length === AT_ONCE) await flush()
  }
  if (batch.length > 0) await flush()
  result.errors.sort((a, b) => a.line - b.line)
  return result
}

/** @throws Failure, CsvError */
function argumentsIn({ line, values, problem }: NamedRow, { read, context }: ImportOptions): CreateArguments {
  if (problem) throw new CsvError(line, problem)
  const args = read(values)
  if (!args.reference) throw missingArguments(['reference'])
  return { ...args, context: args.context || context }
}

/**
 * @param args with `affiliate_id`, however the line names the affiliate
 * @throws CsvError if an earlier line is about the same referral
 */
function refuseRepeated({ line, args }: Line, lineOfKey: Map<string, number>): void {
  const { affiliate_id, context = '', reference, type = 'sale' } = args
  const key = JSON.stringify([affiliate_id, foldCase(context), reference, type])
  const first = lineOfKey.get(key) ?? line
  if (first !== line) {
    throw new CsvError(line, `has the affiliate, context, reference and type of line ${first}.`)
  }
  lineOfKey.set(key, line)
}

/** Imports the lines in one transaction: all of them, or none if one is invalid. */
async function importBatch(
  context: RequestContext,
  lines: readonly Line[],
  { keeps, result, lineOfKey }: Pass,
): Promise<void> {
  const outcome: Pick<Imported, 'imported' | 'existing'> & { errors: LineError[] } = {
    imported: 0,
    existing: 0,
    errors: [],
  }
  const work = async (tx: Tx) => {
    Object.assign(outcome, { imported: 0, existing: 0, errors: [] })
    await lockIfJudged(
      context,
      tx,
      lines.map(({ args }) => args),
    )
    const inside = inTransaction(context, tx)
    for (const { line, args: sent } of lines) {
      try {
        const args = await withAffiliate(tx, sent)
        refuseRepeated({ line, args }, lineOfKey)
        const { replayed } = await createOrFind(inside, args)
        if (replayed) outcome.existing += 1
        else outcome.imported += 1
      } catch (error) {
        outcome.errors.push({ line, message: sentenceOf(error) })
      }
    }
    if (!keeps || outcome.errors.length > 0) throw new RolledBack()
  }
  await writeMany(context, work).catch(refuseOther)
  for (const error of outcome.errors) fail(result, error)
  // A line that was valid at the first reading is not any more: nothing of its batch is imported.
  if (keeps && outcome.errors.length > 0) return
  result.imported += outcome.imported
  result.existing += outcome.existing
}

/** Thrown to roll back a transaction. */
class RolledBack extends Error {}

function refuseOther(error: unknown): void {
  if (!(error instanceof RolledBack)) throw error
}

function attempt<T>(result: Imported, line: number, work: () => T): T | undefined {
  try {
    return work()
  } catch (error) {
    fail(result, { line, message: sentenceOf(error) })
    return undefined
  }
}

/** @throws error if it is not about the line */
function sentenceOf(error: unknown): string {
  if (error instanceof Failure || error instanceof CsvError) return error.message
  throw error
}

function fail(result: Imported, error: LineError): void {
  result.wrong += 1
  if (result.errors.length < MOST_ERRORS) result.errors.push(error)
}

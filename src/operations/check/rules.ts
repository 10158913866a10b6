/** Checks that facts which are stored twice agree, and that the rest is complete. */
import { recount, wrongCounts } from '../../events/counts.ts'
import { verifyChain } from '../../events/verify.ts'
import type { Feature } from '../../records/feature.ts'
import { loadSettings } from '../../settings/rules.ts'
import type { Database, Db } from '../../storage/database.ts'
import { countRows } from '../../storage/page.ts'
import { missedBySearch, resetSearch } from '../../storage/search-index.ts'
import { foldedText, type Table } from '../../storage/table.ts'
import { differencesFromLog, settingsUnlike, trailsOf } from './log.ts'
import { asNew, differencesOf, objectsOf } from './new.ts'
import * as store from './store.ts'

const ROWS_AT_ONCE = 1000
/** How many findings of one kind are listed. */
const NAMED = 10

export interface Findings {
  /** What was checked, with counts. */
  readonly checked: Record<string, number>
  /** The problems, a sentence each. */
  readonly problems: string[]
}

/**
 * Checks the whole database, which may be in use meanwhile.
 * @param progress called with the name of each step
 */
export async function checkDatabase(
  database: Database,
  features: readonly Feature[],
  progress: (step: string) => void = () => {},
): Promise<Findings> {
  const { reader, schema } = database
  progress('files')
  const problems = (await store.damages(database)).map(text => `The file is damaged: ${text}.`)
  progress('tables, indexes and triggers')
  const { objects, settings: defaults } = await asNew(database)
  problems.push(...differencesOf(objects, await objectsOf(database)))
  progress('references')
  for (const { column, count } of await store.orphans(reader, schema)) {
    problems.push(`${column}: ${count} rows refer to rows that do not exist; restore a backup.`)
  }
  const checked: Record<string, number> = {}
  for (const table of schema.filter(({ columns }) => Object.values(columns).some(({ folded }) => folded))) {
    progress(table.name)
    const { count, wrong } = await staleKeys(reader, table)
    checked[table.name] = count
    problems.push(...listed(wrong))
  }
  progress('search')
  problems.push(...listed(await missedBySearch(database)))
  progress('counts')
  problems.push(...(await found(wrongCounts(database), 'record_counts')))
  const checks = features.flatMap(({ kind, checks }) => checks.map(check => ({ check, of: kind.table.name })))
  for (const { check, of } of checks) problems.push(...listed(await found(check(reader), of)))
  progress('log and records')
  const settings = await loadSettings(reader)
  for await (const problem of settingsUnlike(reader, settings, defaults)) problems.push(problem)
  for (const trail of trailsOf(features)) {
    const { name } = trail.table
    problems.push(...listed(await found(differencesFromLog(reader, trail, settings), name)))
    checked[trail.table.name] ??= await countRows(reader, trail.table)
  }
  for (const id of await store.unerased(reader)) {
    problems.push(
      `users ${id}: erased according to the log, but the account has personal data; run affiliated users erase '#${id}'.`,
    )
  }
  progress('audit log')
  if (await store.isLogEmptied(database)) {
    problems.push(
      'Audit log: it is empty although there are records whose creation it must have; restore a backup.',
    )
  }
  for (const id of await store.missingEvents(reader, NAMED)) {
    problems.push(
      `Audit log: transfers of the ledger name the entry ${id}, which is not there; restore a backup.`,
    )
  }
  const verdict = await verifyChain(reader)
  checked.events = verdict.entries
  if (verdict.problem !== undefined) problems.push(`Audit log: ${verdict.problem}`)
  return { checked, problems }
}

/** What is found until something cannot be read, which is a finding as well: JSON that was damaged. */
async function found(problems: AsyncIterable<string>, of: string): Promise<string[]> {
  const all: string[] = []
  try {
    for await (const problem of problems) all.push(problem)
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    all.unshift(`${of}: a value is damaged, and what comes after it was not checked: ${error.message}.`)
  }
  return all
}

function listed(findings: readonly string[]): string[] {
  const unlisted = findings.length - NAMED
  if (unlisted <= 0) return [...findings]
  // Each begins with the table that it is about.
  const [table] = findings[NAMED]!.split(/[ :]/, 1)
  return [...findings.slice(0, NAMED), `${table}: ${unlisted} more rows are wrong.`]
}

/**
 * Writes every stale search key again, so that searches find the row, empties the index of them, which the service
 * writes anew, and counts the records.
 * @returns how many rows were wrong
 */
export async function repair(database: Database): Promise<number> {
  // What changes is taken out of the index, which may not have it.
  await resetSearch(database)
  await recount(database)
  let repaired = 0
  for (const table of database.schema.filter(({ columns }) =>
    Object.values(columns).some(({ folded }) => folded),
  )) {
    const names = Object.keys(table.columns).filter(name => table.columns[name]!.folded)
    for (let last = 0; ; ) {
      const rows = await database.transaction(async tx => {
        const batch = await store.rowsAfter(tx, table, last, ROWS_AT_ONCE)
        for (const row of batch) {
          const keys = names.map(
            name => [`${name}_key`, foldedText(table.columns[name]!, String(row[name]))] as const,
          )
          if (keys.every(([column, key]) => row[column] === key)) continue
          await store.writeKeys(tx, table, row.id, Object.fromEntries(keys))
          repaired += 1
        }
        return batch
      })
      if (rows.length === 0) break
      last = rows.at(-1)!.id
    }
  }
  return repaired
}

/** Rows whose search key does not match their text, so that a search misses them. */
async function staleKeys(db: Db, table: Table): Promise<{ count: number; wrong: string[] }> {
  const names = Object.keys(table.columns).filter(name => table.columns[name]!.folded)
  const wrong: string[] = []
  let count = 0
  for (let last = 0; ; ) {
    const rows = await store.rowsAfter(db, table, last, ROWS_AT_ONCE)
    if (rows.length === 0) return { count, wrong }
    for (const row of rows) {
      const stale = names.filter(
        name => foldedText(table.columns[name]!, String(row[name])) !== row[`${name}_key`],
      )
      if (stale.length > 0)
        wrong.push(
          `${table.name} ${row.id}: stale search key of ${stale.join(', ')}; run \`affiliated check --repair\`.`,
        )
    }
    count += rows.length
    last = rows.at(-1)!.id
  }
}

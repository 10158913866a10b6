/** Checks that facts which are stored twice agree, and that the rest is complete. */
import type { Settings } from '../../base/settings.ts'
import { messageOf } from '../../base/unknown.ts'
import { recount, wrongCounts } from '../../events/counts.ts'
import { verifyChain } from '../../events/verify.ts'
import type { Feature } from '../../records/feature.ts'
import { loadSettings } from '../../settings/rules.ts'
import { type Database, DatabaseUnavailable, type Db } from '../../storage/database.ts'
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

/** Checks the whole database, which may be in use meanwhile; of a damaged file, or an incomplete schema, as much as can be read. */
export async function checkDatabase(database: Database, features: readonly Feature[]): Promise<Findings> {
  const findings: Findings = { checked: {}, problems: [] }
  const { problems } = findings
  let isChanged = false
  try {
    problems.push(...(await store.damages(database)).map(text => `The file is damaged: ${text}.`))
    const { objects, settings } = await asNew(database)
    const differences = differencesOf(objects, await objectsOf(database))
    problems.push(...differences)
    isChanged = differences.length > 0
    await look(database, features, settings, findings)
  } catch (error) {
    const isExplained = error instanceof DatabaseUnavailable ? error.reason === 'damaged' : isChanged
    if (!isExplained) throw error
    problems.push(`What comes after it was not checked: ${messageOf(error)}.`)
  }
  return findings
}

/** @param defaults the settings of a new database */
async function look(
  database: Database,
  features: readonly Feature[],
  defaults: Settings,
  { checked, problems }: Findings,
): Promise<void> {
  const { reader, schema } = database
  for (const { column, count } of await store.orphans(reader, schema)) {
    problems.push(`${column}: ${count} rows refer to rows that do not exist; restore a backup.`)
  }
  for (const table of schema.filter(isFolded)) {
    const { count, wrong } = await staleKeys(reader, table)
    checked[table.name] = count
    problems.push(...listed(wrong))
  }
  problems.push(...listed(await missedBySearch(database)))
  problems.push(...(await found(wrongCounts(database), 'record_counts')))
  const checks = features.flatMap(({ kind, checks }) => checks.map(check => ({ check, of: kind.table.name })))
  for (const { check, of } of checks) problems.push(...listed(await found(check(reader), of)))
  const settings = await loadSettings(reader)
  const unlike = await database.snapshot(async moment =>
    found(settingsUnlike(moment, await loadSettings(moment), defaults), 'settings'),
  )
  problems.push(...unlike)
  for (const trail of trailsOf(features)) {
    const { name } = trail.table
    problems.push(...listed(await found(differencesFromLog(database, trail, settings), name)))
    checked[trail.table.name] ??= await countRows(reader, trail.table)
  }
  for (const id of await store.unerased(reader)) {
    problems.push(
      `users ${id}: erased according to the log, but the account has personal data; run affiliated users erase '#${id}'.`,
    )
  }
  if (await store.isLogEmptied(database)) {
    problems.push(
      'Audit log: it is empty although there are records whose creation it must have; restore a backup.',
    )
  }
  problems.push(...(await found(chainProblems(reader, checked), 'Audit log')))
}

async function* chainProblems(db: Db, checked: Record<string, number>): AsyncGenerator<string> {
  const { entries, problem } = await verifyChain(db)
  checked.events = entries
  if (problem !== undefined) yield `Audit log: ${problem}`
}

/** Of JSON that was damaged, or is not what it should be. */
const isUnreadable = (error: unknown) => error instanceof SyntaxError || error instanceof TypeError

/** What is found until something cannot be read, which is a finding as well. */
async function found(problems: AsyncIterable<string>, of: string): Promise<string[]> {
  const all: string[] = []
  try {
    for await (const problem of problems) all.push(problem)
  } catch (error) {
    if (!isUnreadable(error)) throw error
    all.unshift(`${of}: a value is damaged, and what comes after it was not checked: ${messageOf(error)}.`)
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

export interface Repaired {
  /** How many rows were wrong. */
  readonly repaired: number
  /** What could not be repaired, a sentence each. */
  readonly failed: readonly string[]
}

/**
 * Writes every stale search key again, so that searches find the row, empties the index of them, which the service
 * writes anew, and counts the records.
 */
export async function repair(database: Database): Promise<Repaired> {
  const failed: string[] = []
  // What changes is taken out of the index, which may not have it.
  await resetSearch(database)
  try {
    await recount(database)
  } catch (error) {
    if (!isUnreadable(error)) throw error
    failed.push(`record_counts: they cannot be counted while the audit log is damaged: ${messageOf(error)}.`)
  }
  let repaired = 0
  for (const table of database.schema.filter(isFolded)) {
    for await (const rows of pagesOf(database.reader, table)) {
      const stale = rows.filter(row => staleIn(table, row).length > 0).map(({ id }) => id)
      const problems = await writeKeys(database, table, stale)
      repaired += stale.length - problems.length
      failed.push(...problems)
    }
  }
  return { repaired, failed }
}

type Row = Awaited<ReturnType<typeof store.rowsAfter>>[number]

const isFolded = ({ columns }: Table) => Object.values(columns).some(({ folded }) => folded)

/** By column. */
const keysOf = ({ columns }: Table, row: Row) =>
  Object.keys(columns)
    .filter(name => columns[name]!.folded)
    .map(name => ({ name, column: `${name}_key`, key: foldedText(columns[name]!, String(row[name])) }))

/** Columns whose search key does not match their text. */
const staleIn = (table: Table, row: Row) =>
  keysOf(table, row).filter(({ column, key }) => row[column] !== key)

async function* pagesOf(db: Db, table: Table): AsyncGenerator<Row[]> {
  for (let last = 0; ; ) {
    const rows = await store.rowsAfter(db, table, last, ROWS_AT_ONCE)
    if (rows.length === 0) return
    yield rows
    last = rows.at(-1)!.id
  }
}

/** Together, or each by itself where one fails. @returns which cannot be written and why, such as that another row has the key */
async function writeKeys(database: Database, table: Table, ids: readonly number[]): Promise<string[]> {
  if (ids.length === 0) return []
  try {
    await database.transaction(async tx => {
      for (const id of ids) {
        const [row] = await store.rowsAfter(tx, table, id - 1, 1)
        if (row?.id !== id) continue
        const keys = keysOf(table, row).map(({ column, key }) => [column, key])
        await store.writeKeys(tx, table, id, Object.fromEntries(keys))
      }
    })
    return []
  } catch (error) {
    if (error instanceof DatabaseUnavailable) throw error
    if (ids.length === 1)
      return [`${table.name} ${ids[0]}: its search key cannot be written anew: ${messageOf(error)}.`]
  }
  const problems: string[] = []
  for (const id of ids) problems.push(...(await writeKeys(database, table, [id])))
  return problems
}

/** Rows whose search key does not match their text, so that a search misses them. */
async function staleKeys(db: Db, table: Table): Promise<{ count: number; wrong: string[] }> {
  const wrong: string[] = []
  let count = 0
  for await (const rows of pagesOf(db, table)) {
    count += rows.length
    for (const row of rows) {
      const names = staleIn(table, row).map(({ name }) => name)
      if (names.length > 0)
        wrong.push(
          `${table.name} ${row.id}: stale search key of ${names.join(', ')}; run \`affiliated check --repair\`.`,
        )
    }
  }
  return { count, wrong }
}

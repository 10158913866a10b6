/** Whether what is kept twice agrees, and what is kept once is whole. */
import { foldCase } from '../../base/text.ts'
import { verifyChain } from '../../events/verify.ts'
import type { Check } from '../../records/feature.ts'
import type { Database, Db } from '../../storage/database.ts'
import type { Table } from '../../storage/table.ts'
import * as store from './store.ts'

const ROWS_AT_ONCE = 1000
/** How many findings of one kind are named. */
const NAMED = 10

export interface Findings {
  /** What was looked at, and how much of it. */
  readonly checked: Record<string, number>
  /** What is wrong, a sentence each. */
  readonly problems: string[]
}

/**
 * Looks through the whole database, which may be in use meanwhile.
 * @param checks what is true of one kind of record alone
 * @param progress is told what is being looked at
 */
export async function checkDatabase(
  database: Database,
  checks: readonly Check[],
  progress: (step: string) => void = () => {},
): Promise<Findings> {
  const { reader, schema } = database
  progress('files')
  const problems = (await store.damages(database)).map(text => `The file is damaged: ${text}.`)
  for (const [table, action] of await store.missingRefusals(database)) {
    problems.push(
      `${table}: the trigger ${table}_${action} is not in force, so rows can be changed; restore a backup.`,
    )
  }
  progress('references')
  for (const { column, count } of await store.orphans(reader, schema)) {
    problems.push(`${column}: ${count} rows refer to rows that do not exist; restore a backup.`)
  }
  const checked: Record<string, number> = {}
  for (const table of schema.filter(({ columns }) => Object.values(columns).some(({ folded }) => folded))) {
    progress(table.name)
    const { count, wrong } = await staleKeys(reader, table)
    checked[table.name] = count
    problems.push(...named(wrong, table.name))
  }
  for (const check of checks) {
    const wrong: string[] = []
    for await (const problem of check(reader)) wrong.push(problem)
    problems.push(...named(wrong, check.name))
  }
  progress('audit log')
  const verdict = await verifyChain(reader)
  checked.events = verdict.entries
  if (verdict.problem !== undefined) problems.push(`Audit log: ${verdict.problem}`)
  return { checked, problems }
}

function named(wrong: readonly string[], what: string): string[] {
  const more = wrong.length - NAMED
  return more > 0 ? [...wrong.slice(0, NAMED), `${what}: ${more} more rows are wrong.`] : [...wrong]
}

/** Rows whose folded text is not what their text folds to, so that a search passes over them. */
async function staleKeys(db: Db, table: Table): Promise<{ count: number; wrong: string[] }> {
  const names = Object.keys(table.columns).filter(name => table.columns[name]!.folded)
  const wrong: string[] = []
  let count = 0
  for (let last = 0; ; ) {
    const rows = await store.rowsAfter(db, table, last, ROWS_AT_ONCE)
    if (rows.length === 0) return { count, wrong }
    for (const row of rows) {
      const stale = names.filter(name => foldCase(row[name] as string) !== row[`${name}_key`])
      if (stale.length > 0) wrong.push(`${table.name} ${row.id}: stale search key of ${stale.join(', ')}.`)
    }
    count += rows.length
    last = rows.at(-1)!.id
  }
}

/**
 * Searches by an index, if few rows match. If many match, none is needed: reading the list in its order soon fills a page.
 * See docs/decisions/search.md.
 */
import { sql } from 'kysely'
import { parseSearch, type Search } from '../base/text.ts'
import { asOneText } from './containing.ts'
import type { Database, Db, Engine, Indexed } from './database.ts'
import { type Schema, searchedColumns, type Table } from './table.ts'

/** If more rows match, the list is read in its order: of 1,000,000 rows, every 200th matches then. */
const MOST_CANDIDATES = 5000

const indexedOf = (table: Table): Indexed => ({ table: table.name, columns: searchedColumns(table) })

const allIndexed = (schema: Schema): Indexed[] =>
  schema.filter(({ hasSearchIndex }) => hasSearchIndex).map(indexedOf)

/**
 * Adds to a search the rows that may match, or that they are many.
 * @param goal all rows that match, or the first ones in the order of a list
 */
export async function withCandidates(
  { search: index }: Engine,
  db: Db,
  table: Table,
  search: Search,
  goal: 'all' | 'first',
): Promise<Search> {
  if ('id' in search || !table.hasSearchIndex) return search
  const ids = await index.candidates(db, indexedOf(table), search, MOST_CANDIDATES)
  if (ids.length > MOST_CANDIDATES) {
    return goal === 'first' ? { ...search, many: true } : search
  }
  return { ...search, candidates: JSON.stringify(Object.fromEntries(ids.map(id => [id, 0]))) }
}

/** Brings indexes up to date that are not written together with the rows, in many short transactions. */
export async function catchUpSearch(
  database: Database,
  isClosed: () => boolean = () => false,
): Promise<void> {
  const { later } = database.engine.search
  if (!later) return
  for (const indexed of allIndexed(database.schema)) {
    if (!(await later.isBehind(database.reader, indexed))) continue
    while (!isClosed() && (await database.transaction(tx => later.catchUp(tx, indexed))));
  }
}

/** Empties these indexes; the service fills them anew. */
export async function resetSearch(database: Database): Promise<void> {
  const { later } = database.engine.search
  if (!later) return
  for (const indexed of allIndexed(database.schema)) {
    await database.transaction(tx => later.reset(tx, indexed))
  }
}

/** How many rows of a table are searched for. */
const SAMPLES = 100

/** Searches for a sample of rows by their own text. @returns a sentence for each row that is not found */
export async function missedBySearch({ engine, schema, reader }: Database): Promise<string[]> {
  if (!engine.search.later) return []
  const missed: string[] = []
  for (const indexed of allIndexed(schema)) {
    const { rows } = await sql<{ last: number | null }>`
      SELECT max(id) AS last FROM ${sql.table(indexed.table)}`.execute(reader)
    for (let part = 0; part < SAMPLES; part += 1) {
      const row = await rowFrom(reader, indexed, Math.ceil((part * (rows[0]!.last ?? 0)) / SAMPLES))
      if (row && !(await finds(engine, reader, indexed, row)))
        missed.push(`${indexed.table} ${row.id}: searches miss it; run \`affiliated check --repair\`.`)
    }
  }
  return [...new Set(missed)]
}

async function rowFrom(db: Db, { table, columns }: Indexed, first: number) {
  const { rows } = await sql<{ id: number; text: string }>`
    SELECT id, ${asOneText(columns)} AS text FROM ${sql.table(table)} WHERE id >= ${first} ORDER BY id LIMIT 1`.execute(
    db,
  )
  return rows[0]
}

async function finds(
  { search }: Engine,
  db: Db,
  indexed: Indexed,
  { id, text }: { id: number; text: string },
): Promise<boolean> {
  const sought = parseSearch(text)
  if ('id' in sought) return true
  const ids = await search.candidates(db, indexed, sought, MOST_CANDIDATES)
  return ids.length > MOST_CANDIDATES || ids.includes(id)
}

/** Creates missing indexes. @returns why there is none, for the operator, if that fails */
export async function prepareSearch(database: Database): Promise<string | undefined> {
  return database.engine.search.prepare?.(database, allIndexed(database.schema))
}

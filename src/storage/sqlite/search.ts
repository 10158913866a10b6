/**
 * Searches for parts of names, by an index of all their trigrams (FTS5). It does not contain the text, only which rows have which
 * trigram.
 *
 * If it were written with each row, a new account would cost more than twice as much, so it is written later, many rows at a time.
 * It contains the rows with identifiers up to `last`, except those that have changed since. A trigger removes these from the index
 * at once, so that nothing of an erased text remains there. A search uses the index, and also looks at all rows that are not in it.
 * See docs/decisions/search.md.
 */
import { type RawBuilder, sql } from 'kysely'
import { type TextSearch, textOf, type Word } from '../../base/text.ts'
import { containing } from '../containing.ts'
import type { Db, SearchIndex, Tx } from '../database.ts'

/**
 * Rows that one transaction adds to the index, as a part of it. More would delay the next writer. Fewer are not worth it: searches
 * look at that many rows outside of the index as fast, and many small parts make the index slow.
 */
const ROWS_OF_A_PART = 250
/** Pages of the index that are merged by one statement. */
const MERGED_AT_ONCE = 16
/** How much of a search is looked up in the index: the first trigrams of the first words are enough to leave few rows. */
const MOST_TRIGRAMS = 12
const MOST_WORDS = 8

export const sqliteSearch: SearchIndex = {
  indexed(table, columns) {
    const index = indexOf(table)
    const list = columns.join(', ')
    const old = columns.map(name => `OLD.${name}`).join(', ')
    const isOutside = `FROM ${index}_changed WHERE ${index}_changed.id = OLD.id`
    const isIndexed = `OLD.id <= (SELECT last FROM search_progress WHERE name = '${table}') AND NOT EXISTS (SELECT 1 ${isOutside})`
    const takeOut = `INSERT INTO ${index} (${index}, rowid, ${list}) VALUES ('delete', OLD.id, ${old})`
    const isOther = columns.map(name => `OLD.${name} <> NEW.${name}`).join(' OR ')
    return [
      'CREATE TABLE IF NOT EXISTS search_progress (name TEXT PRIMARY KEY, last INTEGER NOT NULL) STRICT',
      `INSERT INTO search_progress (name, last) VALUES ('${table}', 0)`,
      `CREATE TABLE ${index}_changed (id INTEGER PRIMARY KEY) STRICT`,
      // The rows that are in the index. PRAGMA integrity_check compares both.
      `CREATE VIEW ${index}_rows AS SELECT id, ${list} FROM ${table}
        WHERE id <= (SELECT last FROM search_progress WHERE name = '${table}') AND id NOT IN (SELECT id FROM ${index}_changed)`,
      `CREATE VIRTUAL TABLE ${index} USING fts5 (${list}, content = '${index}_rows', content_rowid = 'id',
        columnsize = 0, detail = none, tokenize = 'trigram case_sensitive 1')`,
      `INSERT INTO ${index} (${index}, rank) VALUES ('secure-delete', 1)`,
      // Otherwise, a transaction would merge all that is to be merged, however long it takes.
      `INSERT INTO ${index} (${index}, rank) VALUES ('automerge', 0)`,
      `CREATE TRIGGER ${index}_update AFTER UPDATE OF ${list} ON ${table} WHEN (${isOther}) AND ${isIndexed}
        BEGIN ${takeOut}; INSERT INTO ${index}_changed (id) VALUES (OLD.id); END`,
      `CREATE TRIGGER ${index}_delete AFTER DELETE ON ${table} WHEN ${isIndexed} BEGIN ${takeOut}; END`,
      `CREATE TRIGGER ${index}_forget AFTER DELETE ON ${table} WHEN EXISTS (SELECT 1 ${isOutside})
        BEGIN DELETE FROM ${index}_changed WHERE id = OLD.id; END`,
    ]
  },

  async candidates(db, { table, columns }, search, limit) {
    const match = matchOf(search)
    if (match === undefined) {
      const texts = columns.map(name => sql.ref(name))
      const { rows } = await sql<{ id: number }>`
        SELECT id FROM ${sql.table(table)} WHERE ${containing(texts, search, sql.ref('id'))} LIMIT ${limit + 1}`.execute(
        db,
      )
      return rows.map(({ id }) => id)
    }
    const index = sql.table(indexOf(table))
    const { rows } = await sql<{ id: number }>`
      SELECT id FROM (SELECT rowid AS id FROM ${index} WHERE ${index} MATCH ${match} LIMIT ${limit + 1})
      UNION ALL SELECT id FROM (SELECT id FROM ${changedOf(table)} LIMIT ${limit + 1})
      UNION ALL SELECT id FROM (SELECT id FROM ${sql.table(table)} WHERE id > ${lastOf(table)} LIMIT ${limit + 1})`.execute(
      db,
    )
    return rows.map(({ id }) => id)
  },

  later: {
    async isBehind(db, { table }) {
      return (await outsideOf(db, table)).length >= ROWS_OF_A_PART
    },

    async catchUp(tx, { table, columns }) {
      const index = sql.table(indexOf(table))
      const ids = await outsideOf(tx, table)
      if (ids.length < ROWS_OF_A_PART) return mergeParts(tx, index)
      const list = sql.join(columns.map(name => sql.ref(name)))
      const among = sql`id IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`
      // In order, because a lower identifier than the one before would begin another part.
      await sql`INSERT INTO ${index} (rowid, ${list})
        SELECT id, ${list} FROM ${sql.table(table)} WHERE ${among} ORDER BY id`.execute(tx)
      await sql`DELETE FROM ${changedOf(table)} WHERE ${among}`.execute(tx)
      await sql`UPDATE search_progress SET last = max(last, ${Math.max(...ids)}) WHERE name = ${table}`.execute(
        tx,
      )
      return true
    },

    async reset(tx, { table }) {
      const index = sql.table(indexOf(table))
      await sql`INSERT INTO ${index} (${index}) VALUES ('delete-all')`.execute(tx)
      await sql`DELETE FROM ${changedOf(table)}`.execute(tx)
      await sql`UPDATE search_progress SET last = 0 WHERE name = ${table}`.execute(tx)
    },
  },
}

const indexOf = (table: string) => `search_${table}`
const changedOf = (table: string) => sql.table(`${indexOf(table)}_changed`)
const lastOf = (table: string) => sql`(SELECT last FROM search_progress WHERE name = ${table})`

/** The first rows that are not in the index, in order of identifier. */
async function outsideOf(db: Db, table: string): Promise<number[]> {
  const { rows } = await sql<{ id: number }>`
    SELECT id FROM (SELECT id FROM ${changedOf(table)} ORDER BY id LIMIT ${ROWS_OF_A_PART})
    UNION ALL SELECT id FROM (SELECT id FROM ${sql.table(table)} WHERE id > ${lastOf(table)} ORDER BY id LIMIT ${ROWS_OF_A_PART})
    LIMIT ${ROWS_OF_A_PART}`.execute(db)
  return rows.map(({ id }) => id)
}

/** @returns whether there may be more to merge */
async function mergeParts(tx: Tx, index: RawBuilder<unknown>): Promise<boolean> {
  const changes = async () => {
    const { rows } = await sql<{ changes: number }>`SELECT total_changes() AS changes`.execute(tx)
    return rows[0]!.changes
  }
  const before = await changes()
  await sql`INSERT INTO ${index} (${index}, rank) VALUES ('merge', ${MERGED_AT_ONCE})`.execute(tx)
  // The statement itself counts as one.
  return (await changes()) - before > 1
}

/** The search in the language of FTS5; undefined if no word is long enough to have a trigram. */
function matchOf({ words }: TextSearch): string | undefined {
  const conditions = words.slice(0, MOST_WORDS).flatMap(word => conditionOf(word) ?? [])
  return conditions.length === 0 ? undefined : conditions.join(' AND ')
}

function conditionOf({ pattern, accented }: Word): string | undefined {
  const texts = [pattern, ...(accented === undefined ? [] : [accented])].map(textOf)
  const alternatives = texts.map(trigramsOf)
  if (alternatives.some(({ length }) => length === 0)) return undefined
  const quoted = (trigram: string) => `"${trigram.replaceAll('"', '""')}"`
  return `(${alternatives.map(trigrams => `(${trigrams.map(quoted).join(' AND ')})`).join(' OR ')})`
}

/** Trigrams that do not overlap, and the last one. Each costs as many rows as have it, so overlapping ones are left out. */
function trigramsOf(text: string): string[] {
  const letters = [...text]
  const trigramAt = (start: number) => letters.slice(start, start + 3).join('')
  const starts = letters.flatMap((_, index) =>
    index % 3 === 0 && index + 3 <= letters.length ? [index] : [],
  )
  const trigrams = starts.slice(0, MOST_TRIGRAMS).map(trigramAt)
  return letters.length < 3 ? [] : [...new Set([...trigrams, trigramAt(letters.length - 3)])]
}

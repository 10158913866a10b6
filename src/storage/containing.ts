/** Word search for all lists: each word must occur in one of the columns, in any order. */
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { TextSearch, Word } from '../base/text.ts'

/**
 * @param columns of folded text
 * @param id the identifier of the rows that have them
 */
export function containing(
  columns: readonly RawBuilder<unknown>[],
  { words, candidates }: TextSearch,
  id: RawBuilder<unknown>,
): Expression<SqlBool> {
  if (columns.length === 0) return sql<boolean>`1 = 0`
  const conditions = words.map(word => inAny(columns, word))
  if (candidates !== undefined) conditions.unshift(amongCandidates(id, candidates))
  return sql<boolean>`(${sql.join(conditions, sql` AND `)})`
}

/** The columns of a row as one text: as words contain no space, none spans two columns. */
export const asOneText = (columns: readonly string[]): RawBuilder<string> =>
  sql<string>`(${sql.join(
    columns.map(name => sql.ref(name)),
    sql` || ' ' || `,
  )})`

/** The keys of a JSON object, because both engines have `json_each` for objects. */
function amongCandidates(id: RawBuilder<unknown>, candidates: string): RawBuilder<boolean> {
  return sql<boolean>`${id} IN (SELECT cast(key AS bigint) FROM json_each(${candidates}))`
}

function inAny(columns: readonly RawBuilder<unknown>[], { pattern, accented }: Word): RawBuilder<boolean> {
  const patterns = accented === undefined ? [pattern] : [pattern, accented]
  const likes = columns.flatMap(column => patterns.map(pattern => sql`${column} LIKE ${pattern} ESCAPE '\\'`))
  return sql<boolean>`(${sql.join(likes, sql` OR `)})`
}

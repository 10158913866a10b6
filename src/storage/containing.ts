/** What a search for words means, for every list: each word stands in one of the columns, in any order. */
import { type Expression, type RawBuilder, type SqlBool, sql } from 'kysely'
import type { TextSearch, Word } from '../base/text.ts'

/** @param columns of folded text */
export function containing(
  columns: readonly RawBuilder<unknown>[],
  { words }: TextSearch,
): Expression<SqlBool> {
  return columns.length === 0
    ? sql<boolean>`1 = 0`
    : sql<boolean>`(${sql.join(
        words.map(word => inAny(columns, word)),
        sql` AND `,
      )})`
}

function inAny(columns: readonly RawBuilder<unknown>[], { pattern, accented }: Word): RawBuilder<boolean> {
  const patterns = accented === undefined ? [pattern] : [pattern, accented]
  const likes = columns.flatMap(column => patterns.map(pattern => sql`${column} LIKE ${pattern} ESCAPE '\\'`))
  return sql<boolean>`(${sql.join(likes, sql` OR `)})`
}

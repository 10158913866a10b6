/** Rows per statement: only a few sizes, so that each statement is built once and used again. */
const CHUNKS = [100, 10, 1]

/** Splits rows into chunks, each for one prepared statement. */
export function* chunksOf<T>(rows: readonly T[]): Generator<T[]> {
  let at = 0
  for (const size of CHUNKS) {
    for (; at + size <= rows.length; at += size) yield rows.slice(at, at + size)
  }
}

/** The most identifiers that one statement names. */
const NAMED_PER_STATEMENT = 500

/** Splits identifiers into those of one statement each. */
export function inParts(ids: readonly number[]): number[][] {
  const parts: number[][] = []
  for (let start = 0; start < ids.length; start += NAMED_PER_STATEMENT) {
    parts.push(ids.slice(start, start + NAMED_PER_STATEMENT))
  }
  return parts
}

/** Rows per statement. Few shapes, so that each is built once. */
const CHUNKS = [100, 10, 1]

/** Splits rows into chunks, each for one prepared statement. */
export function* chunksOf<T>(rows: readonly T[]): Generator<T[]> {
  let at = 0
  for (const size of CHUNKS) {
    for (; at + size <= rows.length; at += size) yield rows.slice(at, at + size)
  }
}

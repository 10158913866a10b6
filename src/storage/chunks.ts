/** How many rows a statement has. The shapes are few, so each is built once. */
const CHUNKS = [100, 10, 1]

/** Rows in parts, each for one statement that is prepared. */
export function* chunksOf<T>(rows: readonly T[]): Generator<T[]> {
  let at = 0
  for (const size of CHUNKS) {
    for (; at + size <= rows.length; at += size) yield rows.slice(at, at + size)
  }
}

/** Sets of identifiers as ranges. Seals store them as text, such as '1-5,7'; the end of the chain as JSON. */

/** First and last identifier, inclusive. */
export type Range = readonly [first: number, last: number]

/** @param rows in order of identifier */
export function rangesOf(entries: readonly { id: number }[]): Range[] {
  const ranges: [number, number][] = []
  for (const { id } of entries) {
    const last = ranges.at(-1)
    if (last && last[1] === id - 1) last[1] = id
    else ranges.push([id, id])
  }
  return ranges
}

export function textOf(ranges: readonly Range[]): string {
  return ranges.map(([first, last]) => (first === last ? `${first}` : `${first}-${last}`)).join(',')
}

/** @returns undefined if the text is malformed */
export function rangesIn(text: string): Range[] | undefined {
  const ranges = text.split(',').map(part => {
    const [first, last = first] = part.split('-').map(Number)
    return [first!, last!] as const
  })
  const valid = ranges.every(
    ([first, last]) => Number.isSafeInteger(first) && Number.isSafeInteger(last) && first <= last,
  )
  return valid ? ranges : undefined
}

/** Skipped identifiers, and a number above those of all transactions that were running then. */
export type Missing = readonly [first: number, last: number, next: number]

/** What the end of the chain waits for. @returns undefined if the text is malformed */
export function missingIn({ missing }: { readonly missing: string }): Missing[] | undefined {
  try {
    const all: Missing[] = JSON.parse(missing)
    return all.every(one => one.length === 3 && one.every(Number.isSafeInteger)) ? all : undefined
  } catch {
    return undefined
  }
}

/** Their identifiers alone. */
export const withoutNext = (missing: readonly Missing[]): Range[] =>
  missing.map(([first, last]) => [first, last])

/** The parts of a range that no other range covers; `others` are in order. */
export function gaps([first, last]: Range, others: readonly Range[]): Range[] {
  const between: Range[] = []
  let next = first
  for (const [from, to] of others) {
    if (to < next || from > last) continue
    if (from > next) between.push([next, from - 1])
    next = Math.max(next, to + 1)
  }
  if (next <= last) between.push([next, last])
  return between
}

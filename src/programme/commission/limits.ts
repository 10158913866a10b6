/**
 * Interval index: finds entries whose limits contain a number. A segment tree over the gaps between all limits stores
 * each entry at a few nodes, so that a look-up among a thousand entries takes a dozen steps.
 */
import { compared, type Fraction } from '../../base/fraction.ts'

export interface Limited<E> {
  readonly entry: E
  /** Lower limit, inclusive. */
  readonly least: Fraction | undefined
  /** Upper limit, exclusive. */
  readonly most: Fraction | undefined
}

export class Limits<E> {
  /** All limits, unique and ascending. */
  readonly #points: readonly Fraction[]
  readonly #nodes: E[][]

  /** @param entries in the order in which they should be found */
  constructor(entries: readonly Limited<E>[]) {
    const points = entries.flatMap(({ least, most }) => [least, most]).filter(point => point !== undefined)
    this.#points = points.sort(compared).filter((point, place) => {
      return place === 0 || compared(point, points[place - 1]!) !== 0
    })
    const places = this.#places
    this.#nodes = Array.from({ length: 2 * places }, () => [])
    for (const { entry, least, most } of entries) {
      let first = places + (least === undefined ? 0 : this.#placeOf(least))
      let end = places + (most === undefined ? places : this.#placeOf(most))
      for (; first < end; first >>= 1, end >>= 1) {
        if (first & 1) this.#nodes[first++]!.push(entry)
        if (end & 1) this.#nodes[--end]!.push(entry)
      }
    }
  }

  /** Number of gaps between limits, including those at both ends. */
  get #places(): number {
    return this.#points.length + 1
  }

  /** Number of limits that are at most the given number. */
  #placeOf(value: Fraction): number {
    let [reached, end] = [0, this.#points.length]
    while (reached < end) {
      const middle = (reached + end) >> 1
      if (compared(value, this.#points[middle]!) < 0) end = middle
      else reached = middle + 1
    }
    return reached
  }

  /** The entries whose limits contain a number, as several lists in the order of all entries. */
  *taking(value: Fraction): Generator<readonly E[]> {
    for (let node = this.#places + this.#placeOf(value); node >= 1; node >>= 1) {
      if (this.#nodes[node]!.length > 0) yield this.#nodes[node]!
    }
  }
}

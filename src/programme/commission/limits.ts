/**
 * What asks for a number between two limits, found by the number: a tree over the places between all limits, in which
 * each stands at few of the nodes that lie within its own. So a thousand cost a dozen steps.
 */
import { compared, type Fraction } from '../../base/fraction.ts'

export interface Limited<E> {
  readonly entry: E
  /** The least that it takes. */
  readonly least: Fraction | undefined
  /** What it takes stays below. */
  readonly most: Fraction | undefined
}

export class Limits<E> {
  /** Every limit, once, ascending. */
  readonly #points: readonly Fraction[]
  readonly #nodes: E[][]

  /** @param all in the order in which they are to be found */
  constructor(all: readonly Limited<E>[]) {
    const points = all.flatMap(({ least, most }) => [least, most]).filter(point => point !== undefined)
    this.#points = points.sort(compared).filter((point, place) => {
      return place === 0 || compared(point, points[place - 1]!) !== 0
    })
    const places = this.#places
    this.#nodes = Array.from({ length: 2 * places }, () => [])
    for (const { entry, least, most } of all) {
      let first = places + (least === undefined ? 0 : this.#placeOf(least))
      let end = places + (most === undefined ? places : this.#placeOf(most))
      for (; first < end; first >>= 1, end >>= 1) {
        if (first & 1) this.#nodes[first++]!.push(entry)
        if (end & 1) this.#nodes[--end]!.push(entry)
      }
    }
  }

  /** Between the limits, below all and from the last one on. */
  get #places(): number {
    return this.#points.length + 1
  }

  /** How many of the limits a number reaches. */
  #placeOf(value: Fraction): number {
    let [reached, end] = [0, this.#points.length]
    while (reached < end) {
      const middle = (reached + end) >> 1
      if (compared(value, this.#points[middle]!) < 0) end = middle
      else reached = middle + 1
    }
    return reached
  }

  /** Those that take a number, as several lists that each have the order of all. */
  *taking(value: Fraction): Generator<readonly E[]> {
    for (let node = this.#places + this.#placeOf(value); node >= 1; node >>= 1) {
      if (this.#nodes[node]!.length > 0) yield this.#nodes[node]!
    }
  }
}

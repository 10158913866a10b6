/** Numbers from 0 to 1 that look random and are the same for the same seed (mulberry32). */
export function randomNumbers(seed: number): () => number {
  let state = seed
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296
  }
}

export function pick<T>(choices: readonly T[], random: () => number): T {
  return choices[Math.floor(random() * choices.length)]!
}

/** Where the demo is in its time, and what is left to chance. */
export interface Chance {
  readonly random: () => number
  /** @param part how far into the demo's time, from 0 to 1 @returns a second of that day */
  readonly timeAt: (part: number) => number
  /** How far into the demo's time a moment is, from 0 to 1. */
  readonly partAt: (time: number) => number
}

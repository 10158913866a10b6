/**
 * Rate limits per minute, by name: requests of a key, refused keys of an address. A minute begins with the first use. The
 * processes of one node share each limit: the first process grants a part of what is left at a time, smaller as it runs
 * out, so that hardly any request waits for a message, and all together never exceed the limit.
 * See docs/decisions/limits.md.
 */
export const WINDOW_SECONDS = 60

const WINDOW_MS = WINDOW_SECONDS * 1000
const PARTS = 8
const NAMES_KEPT = 100_000

export interface Grant {
  readonly granted: number
  /** What can still be granted. */
  readonly left: number
  /** Identifies the minute. */
  readonly window: number
  /** Milliseconds until it ends: the processes' clocks agree on durations only. */
  readonly lastsMs: number
}

export type Grantor = (name: string, limit: number) => Grant | Promise<Grant>

/** For a process that shares its limits with no other: grants everything at once. */
export const grantAll: Grantor = (_name, limit) => ({
  granted: limit,
  left: 0,
  window: performance.now(),
  lastsMs: WINDOW_MS,
})

/** The counts, held by the first process of a node. */
export class Allotment {
  readonly #left = new Map<string, { left: number; readonly endsAt: number }>()

  grant(name: string, limit: number): Grant {
    let entry = this.#left.get(name)
    const time = performance.now()
    if (!entry || entry.endsAt <= time) {
      entry = { left: limit, endsAt: time + WINDOW_MS }
      setBounded(this.#left, name, entry)
    }
    const granted = Math.ceil(entry.left / PARTS)
    entry.left -= granted
    return { granted, left: entry.left, window: entry.endsAt, lastsMs: entry.endsAt - time }
  }
}

export interface Spending {
  /** Whether the request is within the limit. */
  readonly allowed: boolean
  /** An upper bound; other processes may have used some of it. */
  readonly remaining: number
  readonly resetSeconds: number
}

interface Allowance {
  tokens: number
  readonly left: number
  readonly window: number
  /** In `performance.now()` time, which is not affected by changes of the system clock. */
  readonly endsAt: number
}

/** What one process has been granted. */
export class Allowances {
  readonly #grantor: Grantor
  readonly #held = new Map<string, Allowance>()
  readonly #asked = new Map<string, Promise<Allowance>>()

  constructor(grantor: Grantor) {
    this.#grantor = grantor
  }

  /** Spends `count`, or nothing if less is left. Returns a promise only when another process has to be asked. */
  spend(name: string, limit: number, count = 1): Spending | Promise<Spending> {
    const granted = this.#held.get(name)
    if (granted && granted.endsAt > performance.now()) {
      if (granted.tokens >= count) {
        granted.tokens -= count
        return spentOf(granted, true)
      }
      if (granted.left === 0) return spentOf(granted, false)
    }
    const more = this.#ask(name, limit)
    return more instanceof Promise
      ? more.then(() => this.spend(name, limit, count))
      : this.spend(name, limit, count)
  }

  /** Whether this process knows that nothing is left. */
  isUsedUp(name: string): boolean {
    const granted = this.#held.get(name)
    return (
      granted !== undefined &&
      granted.tokens === 0 &&
      granted.left === 0 &&
      granted.endsAt > performance.now()
    )
  }

  #ask(name: string, limit: number): Allowance | Promise<Allowance> {
    const pending = this.#asked.get(name)
    if (pending) return pending
    const grant = this.#grantor(name, limit)
    if (!(grant instanceof Promise)) return this.#hold(name, grant)
    const granting = grant.then(answer => {
      this.#asked.delete(name)
      return this.#hold(name, answer)
    })
    this.#asked.set(name, granting)
    return granting
  }

  #hold(name: string, grant: Grant): Allowance {
    const before = this.#held.get(name)
    const { granted, left, window, lastsMs } = grant
    const unused = before?.window === window ? before.tokens : 0
    const allowance = { tokens: unused + granted, left, window, endsAt: performance.now() + lastsMs }
    setBounded(this.#held, name, allowance)
    return allowance
  }
}

function spentOf({ tokens, left, endsAt }: Allowance, allowed: boolean): Spending {
  return {
    allowed,
    remaining: tokens + left,
    resetSeconds: Math.max(1, Math.ceil((endsAt - performance.now()) / 1000)),
  }
}

/** Bounded map: evicts the entry that was set longest ago, which is the most likely to have expired. */
function setBounded<T>(entries: Map<string, T>, name: string, entry: T): void {
  entries.delete(name)
  entries.set(name, entry)
  if (entries.size > NAMES_KEPT) entries.delete(entries.keys().next().value!)
}

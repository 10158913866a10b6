/** The content of a delivery: conversions, and names of one payment. */
import type { CreateArguments } from '../conversions/schema.ts'

export type Reported = Omit<CreateArguments, 'context'>

/** The same as the sender has written it, which is yet to be checked. */
export type Unchecked = { [argument: string]: unknown }

export interface Delivery {
  /** What the sender calls it, for what has no reference; empty when nothing. */
  readonly event?: string
  readonly conversions: readonly Unchecked[]
  /** Names of one payment that no conversion has. */
  readonly names?: readonly string[]
  /** Why it cannot be taken, where what was reported before does not allow it. */
  readonly conflict?: string
  /** Why the delivery changes nothing, where that is so. */
  readonly ignored?: string
}

export const ignored = (why: string): Delivery => ({ conversions: [], ignored: why })

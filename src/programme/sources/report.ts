/** What a delivery says: conversions, and names that belong to one payment. */
import type { CreateArguments } from '../conversions/schema.ts'

export type Reported = Omit<CreateArguments, 'context'> & {
  /** Says nothing of a payment that was never disputed. */
  readonly onlyIfDisputed?: boolean
}

export interface Delivery {
  readonly conversions: readonly Reported[]
  /** Names of one payment that no conversion tells of. */
  readonly names?: readonly string[]
  /** Why nothing follows from it, where nothing does. */
  readonly ignored?: string
}

export const ignored = (why: string): Delivery => ({ conversions: [], ignored: why })

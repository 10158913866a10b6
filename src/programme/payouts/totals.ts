import { Type } from 'typebox'

const part = { count: Type.Integer(), sum: Type.Number() }

/** How many payouts a list is narrowed to, and what they come to. */
export const payoutTotals = Type.Object({
  ...part,
  paid: Type.Object(part, { description: 'Those that were paid.' }),
  failed: Type.Object(part, { description: 'Those that failed.' }),
})

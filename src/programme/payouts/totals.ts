import { Type } from 'typebox'

const part = { count: Type.Integer(), sum: Type.Number() }

/** How many payouts a list is narrowed to, and what they come to. */
export const payoutTotals = Type.Object({
  ...part,
  paid: Type.Object(part, { description: 'Those that were paid.' }),
  failed: Type.Object(part, { description: 'Those that failed.' }),
})

/** What is kept beside the record. */
export const payoutNotes = Type.Object({
  payout_id: Type.Integer({ description: 'Identifier of the payout.' }),
  reference: Type.String({ description: 'What the bank or the payment service calls it.' }),
  note: Type.String({ description: 'A note on the payout.' }),
})

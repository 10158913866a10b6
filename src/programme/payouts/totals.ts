import { Type } from 'typebox'

const totalSchema = { count: Type.Integer(), sum: Type.Number() }

/** The count and sum of the payouts in a list. */
export const payoutTotals = Type.Object({
  ...totalSchema,
  paid: Type.Object(totalSchema, { description: 'Those that were paid.' }),
  failed: Type.Object(totalSchema, { description: 'Those that failed.' }),
})

/** Stored beside the record. */
export const payoutNotes = Type.Object({
  payout_id: Type.Integer({ description: 'Identifier of the payout.' }),
  reference: Type.String({ description: 'What the bank or the payment service calls it.' }),
  note: Type.String({ description: 'A note on the payout.' }),
  payout_run_id: Type.Integer({
    description: 'The payout run that has made the payout; 0 when it was recorded.',
  }),
})

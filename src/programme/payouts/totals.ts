import { Type } from 'typebox'

const totalSchema = { count: Type.Integer(), sum: Type.Number() }

/** The count and sum of the payouts in a list. */
export const payoutTotals = Type.Object({
  ...totalSchema,
  paid: Type.Object(totalSchema, { description: 'Number and sum of the payouts that were paid.' }),
  failed: Type.Object(totalSchema, { description: 'Number and sum of the payouts that failed.' }),
})

/** Stored beside the record. */
export const payoutNotes = Type.Object({
  payout_id: Type.Integer({ description: 'Identifier of the payout.' }),
  reference: Type.String({ description: 'Reference of the bank or payment service.' }),
  note: Type.String({ description: 'Note on the payout.' }),
  payout_run_id: Type.Integer({
    description: 'The payout run that made the payout; 0 if a person recorded it.',
  }),
})

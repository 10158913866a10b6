import { type Static, Type } from 'typebox'
import { choice, identifiers, line, listOf, MIB } from '../../base/schemas.ts'
import { refusedIdentifiers } from '../../records/crud.ts'
import { csvColumns } from './formats/csv.ts'
import { formats } from './formats/formats.ts'
import { runItem } from './item.ts'
import { outcomes, resultFormats } from './outcome.ts'
import { payoutRun } from './run.ts'
import { itemStatuses, MOST_FILE_NAME, MOST_NAMED, reasons, runStatuses } from './words.ts'

/** The largest file of results, in characters. */
export const MOST_CONTENT = 32 * MIB

export const prepareArguments = Type.Object({
  ...payoutRun.create.properties,
  ...refusedIdentifiers(payoutRun),
  exclude: Type.Optional(identifiers('Affiliates that are left out.')),
})

export type PrepareArguments = Static<typeof prepareArguments>

const run = payoutRun.item.properties

export const editArguments = Type.Object({
  ...run,
  exclude: Type.Optional(
    identifiers('Affiliates that are left out, instead of those before; the same when omitted.'),
  ),
  leave_out: Type.Optional(identifiers('Affiliates that are left out beside those before.')),
  take_in: Type.Optional(identifiers('Affiliates that are no longer left out.')),
})

export const approveArguments = Type.Object({
  ...run,
  hash: line(64, 'The hash of the run as it was shown: what has changed since is not approved.'),
})

export const cancelArguments = Type.Object({
  ...run,
  status: Type.Optional(
    choice(
      runStatuses,
      'The status of the run as it was shown: one that has another by now is not cancelled. Any when omitted.',
    ),
  ),
  not_handed_over: Type.Optional(
    Type.Boolean({ description: 'You know that no downloaded file has gone to a bank or to PayPal.' }),
  ),
})

export type CancelArguments = Static<typeof cancelArguments>

const part = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 1,
    description: 'Which of its files, where a format has a limit.',
  }),
)

export const fileArguments = Type.Object({
  ...run,
  part,
  columns: Type.Optional(listOf(choice(csvColumns), 'The columns of a plain CSV file; all when omitted.')),
})

export const handOverArguments = Type.Object({ ...run, part })

const note = line(500, 'What is to be remembered about it.')

export const resultArguments = Type.Object({
  ...run,
  format: Type.Optional({ ...choice(resultFormats, 'What the content is.'), default: 'csv' }),
  content: Type.String({ maxLength: MOST_CONTENT, description: 'The file, as text.' }),
  file_name: Type.Optional(line(MOST_FILE_NAME, 'What the file is called, for the history of the run.')),
  dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Only say what it would do.' })),
})

export type ResultArguments = Static<typeof resultArguments>

export const settleArguments = Type.Object({
  ...runItem.item.properties,
  status: choice(outcomes, 'What became of the payment.'),
  note: Type.Optional(note),
})

export type SettleArguments = Static<typeof settleArguments>

const many = Type.Integer({ minimum: 0 })

export const resultRecord = Type.Object({
  payout_run_id: Type.Integer({ description: 'Identifier of the run.' }),
  dry_run: Type.Boolean({ description: 'Whether it was only said what would be done.' }),
  recorded: Type.Object(Object.fromEntries(outcomes.map(outcome => [outcome, many])), {
    description: 'How many items get each outcome.',
  }),
  unchanged: Type.Integer({ description: 'How many have the outcome already.' }),
  lines: Type.Array(
    Type.Object({
      reference: Type.String(),
      affiliate_id: Type.Integer(),
      payee_name: Type.String(),
      amount: Type.Number(),
      before: choice(itemStatuses),
      outcome: choice(outcomes),
      note: Type.String(),
    }),
    {
      description: `Which items get an outcome, or, where it is the same as before, have it already; at most ${MOST_NAMED}.`,
    },
  ),
  conflicts: Type.Array(
    Type.Object({
      reference: Type.String(),
      reason: Type.String(),
      affiliate_id: Type.Integer({ description: 'The payee; 0 when the run has none of this reference.' }),
      payee_name: Type.String(),
      amount: Type.Number(),
    }),
    { description: `What contradicts itself or what is recorded, at most ${MOST_NAMED}.` },
  ),
  unknown_references: Type.Array(Type.String(), {
    description: `What is not in this run, at most ${MOST_NAMED}.`,
  }),
  ignored: Type.Integer({
    description: 'Lines that say nothing final, such as that a payment was accepted.',
  }),
})

export type ResultRecord = Static<typeof resultRecord>

export const fileRecord = Type.Object({
  format: choice(
    formats.map(({ name }) => name),
    'What kind of file it is.',
  ),
  part: Type.Integer({ description: 'Which file, from 1.' }),
  parts: Type.Integer({ description: 'How many files there are of this kind.' }),
  payees: Type.Integer({ description: 'How many are paid by this file.' }),
  erased: Type.Integer({
    description: 'How many were erased since the approval, and are not in it: record what became of each.',
  }),
  downloaded: Type.String({ description: 'When it was first downloaded, UTC; empty before.' }),
  handed_over: Type.String({ description: 'When somebody said that it was handed over, UTC; empty before.' }),
})

export const reconciliationRecord = Type.Object({
  payout_run_id: Type.Integer({ description: 'Identifier of the run.' }),
  currency: Type.String({ description: 'ISO 4217 code of the currency.' }),
  sent: Type.Object({ count: many, sum: Type.Number() }, { description: 'All that was approved.' }),
  ...Object.fromEntries(
    ['paid', 'failed', 'returned', 'unknown', 'open'].map(name => [
      name,
      Type.Object({ count: many, sum: Type.Number() }),
    ]),
  ),
  excluded: Type.Array(
    Type.Object({
      reason: choice(reasons),
      count: many,
    }),
    { description: 'How many are left out for each reason.' },
  ),
  balanced: Type.Boolean({ description: 'Whether nothing is open or unknown.' }),
})

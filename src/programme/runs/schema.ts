import { type Static, Type } from 'typebox'
import { choice, identifiers, line, listOf, MIB, withDefault } from '../../base/schemas.ts'
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
  exclude: Type.Optional(identifiers('Affiliates to leave out.')),
})

export type PrepareArguments = Static<typeof prepareArguments>

const run = payoutRun.item.properties

export const editArguments = Type.Object({
  ...run,
  exclude: Type.Optional(
    identifiers('Affiliates to leave out instead of those before; unchanged when omitted.'),
  ),
  leave_out: Type.Optional(identifiers('Affiliates to leave out in addition to those before.')),
  take_in: Type.Optional(identifiers('Affiliates to leave out no longer.')),
})

export const approveArguments = Type.Object({
  ...run,
  hash: line(
    64,
    'Hash of the run that was reviewed; if anything has changed since, the run is not approved.',
  ),
})

export const cancelArguments = Type.Object({
  ...run,
  status: Type.Optional(
    choice(
      runStatuses,
      'Status of the run when it was reviewed; if it has changed since, the run is not cancelled. Any when omitted.',
    ),
  ),
  not_handed_over: Type.Optional(
    Type.Boolean({ description: 'Confirms that no downloaded file has gone to a bank or to PayPal.' }),
  ),
})

export type CancelArguments = Static<typeof cancelArguments>

const part = Type.Optional(
  Type.Integer({
    minimum: 1,
    maximum: 1_000_000,
    default: 1,
    description: 'Number of the file, from 1, if the payments do not fit into one.',
  }),
)

export const fileArguments = Type.Object({
  ...run,
  part,
  columns: Type.Optional(listOf(choice(csvColumns), 'Columns of the plain CSV file; all when omitted.')),
})

export const handOverArguments = Type.Object({ ...run, part })

const note = line(500, 'Note on the payment.')

export const resultArguments = Type.Object({
  ...run,
  format: Type.Optional(withDefault(choice(resultFormats, 'Format of the content.'), 'csv')),
  content: Type.String({ maxLength: MOST_CONTENT, description: 'The file, as text.' }),
  file_name: Type.Optional(line(MOST_FILE_NAME, 'Name of the file, for the history of the run.')),
  dry_run: Type.Optional(Type.Boolean({ default: false, description: 'Only say what would be recorded.' })),
})

export type ResultArguments = Static<typeof resultArguments>

export const settleArguments = Type.Object({
  ...runItem.item.properties,
  status: choice(outcomes, 'Outcome of the payment.'),
  note: Type.Optional(note),
})

export type SettleArguments = Static<typeof settleArguments>

const many = Type.Integer({ minimum: 0 })

export const resultRecord = Type.Object({
  payout_run_id: Type.Integer({ description: 'Identifier of the payout run.' }),
  dry_run: Type.Boolean({ description: 'Whether this was a dry run, which records nothing.' }),
  recorded: Type.Object(Object.fromEntries(outcomes.map(outcome => [outcome, many])), {
    description: 'Number of payments that get each outcome.',
  }),
  unchanged: Type.Integer({ description: 'Number of payments that have the outcome already.' }),
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
      description: `Payments that get an outcome, or have the same one already; at most ${MOST_NAMED}.`,
    },
  ),
  conflicts: Type.Array(
    Type.Object({
      reference: Type.String(),
      reason: Type.String(),
      affiliate_id: Type.Integer({
        description: 'The payee; 0 if the run has no payment with this reference.',
      }),
      payee_name: Type.String(),
      amount: Type.Number(),
    }),
    { description: `Results that contradict each other or the records, at most ${MOST_NAMED}.` },
  ),
  unknown_references: Type.Array(Type.String(), {
    description: `References that are not in this run, at most ${MOST_NAMED}.`,
  }),
  ignored: Type.Integer({
    description: 'Number of lines that say nothing final, such as that a payment was accepted.',
  }),
})

export type ResultRecord = Static<typeof resultRecord>

export const fileRecord = Type.Object({
  format: choice(
    formats.map(({ name }) => name),
    'Format of the file.',
  ),
  part: Type.Integer({ description: 'Number of the file, from 1.' }),
  parts: Type.Integer({ description: 'Number of files in this format.' }),
  payees: Type.Integer({ description: 'Number of payees in this file.' }),
  erased: Type.Integer({
    description:
      'Number of payees erased since the approval, who are not in the file: record the outcome of each.',
  }),
  downloaded: Type.String({ description: 'When it was first downloaded, UTC; empty before.' }),
  handed_over: Type.String({
    description: 'When somebody recorded that it was handed over, UTC; empty before.',
  }),
})

export const reconciliationRecord = Type.Object({
  payout_run_id: Type.Integer({ description: 'Identifier of the payout run.' }),
  currency: Type.String({ description: 'ISO 4217 code of the currency.' }),
  sent: Type.Object({ count: many, sum: Type.Number() }, { description: 'All payments that were approved.' }),
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
    { description: 'Number of affiliates left out for each reason.' },
  ),
  balanced: Type.Boolean({ description: 'Whether no payment is open or unknown.' }),
})

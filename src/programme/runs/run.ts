/** The kind payout run: many payouts that are prepared, approved and sent together. */
import { Type } from 'typebox'
import { line, moment } from '../../base/schemas.ts'
import { parseMoment } from '../../base/time.ts'
import { kind, type ReadRowOf, type RowOf, type TableOf } from '../../records/kind.ts'
import { amount, count, created, derivedAmount, link, status, words } from '../../records/kinds-of-field.ts'
import {
  atCreation,
  internalNumber,
  internalText,
  serviceOnly,
  timeOnceDone,
} from '../../records/service-fields.ts'
import { neither } from '../../storage/table.ts'
import { approvals, methods, runStatuses } from './words.ts'

/** The affiliates that a person has left out. */
export const leftOutOf = ({ left_out }: { readonly left_out: string }): number[] =>
  left_out === '' ? [] : left_out.split(',').map(Number)

const fields = {
  status: serviceOnly(status(runStatuses, 'draft')),
  method: atCreation(status(methods, 'csv', 'How the payees are paid.')),
  cut_off: {
    ...timeOnceDone('Earnings until then are paid'),
    wire: Type.String({
      description: 'Earnings until then are paid: YYYY-MM-DD HH:MM:SS, UTC; empty when all are.',
    }),
    create: Type.Optional(
      moment(
        'Earnings until the end of this day or second are paid; all when omitted. Refunds always count.',
      ),
    ),
    keep: (value: string) => parseMoment(value)!.last,
  },
  group_id: atCreation(link('The group whose affiliates are paid')),
  minimum: atCreation(amount('The least that somebody is paid.')),
  note: atCreation(words(line(140), 'What payees read beside the payment.', neither)),
  payees: count('How many are paid.'),
  amount: derivedAmount('What they are paid together.'),
  excluded: count('How many have a balance and are not paid, each for a reason.'),
  done: count('Of how many payees the approval has reserved the earnings.'),
  hash: serviceOnly(
    words(
      line(64),
      'Stands for the items; approving names it. Empty while the run is being prepared.',
      neither,
    ),
  ),
  approval: serviceOnly(
    status(approvals, 'one', 'How many persons it takes: two when who prepared it may not approve it.'),
  ),
  date: created('created_at', 'When it was prepared, the last time'),
  prepared_by: serviceOnly(link('The account that prepared it')),
  approved_by: serviceOnly(link('The account that approved it')),
  approved_at: timeOnceDone('When it was approved'),
  sent_at: timeOnceDone('When a file of it was handed over'),
  closed_at: timeOnceDone('When it was closed or cancelled'),
  reference: serviceOnly(
    words(
      line(40),
      "Names it in its payment files: each payment has it, the letter A and the affiliate's identifier.",
      neither,
    ),
  ),
  last_results: serviceOnly(
    words(line(1000), 'What was recorded last of its payments, and from what; empty before.', neither),
  ),
  refusal: serviceOnly(
    words(
      line(4000),
      'What had changed when its approval was refused, until it is prepared or approved anew; empty else.',
      neither,
    ),
  ),
  /** Identifiers of affiliates that a person has left out, with commas between them: logged, as who approves asks for it. */
  left_out: {
    type: 'text',
    nullable: false,
    ...neither,
    wire: Type.Array(Type.Integer(), { description: 'The affiliates that a person has left out.' }),
    order: false,
    initial: '',
    show: (stored: string) => leftOutOf({ left_out: stored }),
    sample: () => '',
  },
  /** The last affiliate that is listed so far; during an approval, that is compared. */
  prepared_to: internalNumber({ ...neither, secret: true }),
  /** Digest of the items so far. */
  digest: internalText({ ...neither, secret: true }),
  /** JSON: the payer as the files name it, since it was prepared. */
  payer: internalText({ ...neither, secret: true }),
  /** 1 once the approval has found every item unchanged; 2 when one has changed after that. */
  verified: internalNumber({ ...neither, secret: true }),
} as const

const actions = [
  'create',
  'prepare',
  'edit',
  'approve',
  'reserve',
  'refuse',
  'cancel',
  'download',
  'send',
  'record',
  'close',
] as const

export const payoutRun = kind({
  name: 'payout_run',
  table: 'payout_runs',
  search: 'An identifier, or the reference of the run, of one of its files, or of one of its payments.',
  fields,
  actions,
  // Which of its files was downloaded or handed over.
  plain: ['format', 'part'],
  // They change with each part of the work, and when it begins anew.
  unlogged: ['done', 'refusal', 'last_results'],
})

export type Run = RowOf<typeof fields>
export type RunRow = ReadRowOf<typeof fields>
export type Method = (typeof methods)[number]

interface PayoutRunsTable extends TableOf<typeof fields> {}

import type {} from '../../events/schema.ts'
import type {} from '../../storage/tables.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    payout_runs: PayoutRunsTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    payout_run: (typeof actions)[number]
  }
}

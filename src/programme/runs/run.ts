/** The kind payout run: many payouts that are prepared, approved and sent together. */
import { Type } from 'typebox'
import { day, line, moment } from '../../base/schemas.ts'
import { formatDay, parseMoment } from '../../base/time.ts'
import { kind, type ReadRowOf, type RowOf, type TableOf } from '../../records/kind.ts'
import { amount, count, created, link, status, timeOrNone, words } from '../../records/kinds-of-field.ts'
import {
  atCreation,
  derivedAmount,
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

/** What the comparison of an approval has found, as it is stored. */
export const verification = {
  /** Items are still being compared. */
  unfinished: 0,
  /** Every item was unchanged: they are being reserved. */
  unchanged: 1,
  /** An item has changed after that: everything reserved is being released. */
  changed: 2,
} as const

const fields = {
  status: serviceOnly(status(runStatuses, 'draft')),
  method: atCreation(status(methods, 'csv', 'How the payees are paid.')),
  cut_off: {
    ...timeOrNone,
    wire: Type.String({
      description: 'Earnings up to this time are paid: YYYY-MM-DD HH:MM:SS, UTC; empty if all are.',
    }),
    create: Type.Optional(
      moment(
        'Earnings up to the end of this day or second are paid; all when omitted. Refunds always count.',
      ),
    ),
    keep: (value: string) => parseMoment(value)!.last,
  },
  execution_date: {
    ...timeOrNone,
    wire: Type.String({
      description:
        'Day on which the file asks the bank to pay, or later if the run is approved later: YYYY-MM-DD; empty if none was chosen.',
    }),
    create: Type.Optional(
      day(
        'Day on which the file asks the bank to pay, from today (UTC) to a year from now, for sepa and nacha only. When omitted, that of the approval, or the weekday after it for nacha.',
      ),
    ),
    show: (stored: number | null) => (stored === null ? '' : formatDay(stored)),
    keep: (value: string) => parseMoment(value)!.first,
  },
  group_id: atCreation(link('The group to whose affiliates the run is limited')),
  minimum: atCreation(amount('The smallest amount to pay an affiliate.')),
  note: atCreation(words(line(140), 'Note that payees see with the payment.', neither)),
  payees: count('Number of affiliates who are paid.'),
  amount: derivedAmount('Sum of their payments.'),
  excluded: count('Number of affiliates who have a balance but are left out, each for a reason.'),
  done: count('Number of payees whose earnings the approval has reserved.'),
  hash: serviceOnly(
    words(
      line(64),
      'Covers the payer, the execution date and all payments; an approval has to name it. Empty while the run is being prepared.',
      neither,
    ),
  ),
  approval: serviceOnly(
    status(
      approvals,
      'one',
      'How many people the run needs: with two, the person who prepared it cannot approve it.',
    ),
  ),
  date: created('created_at', 'When the run was last prepared'),
  prepared_by: serviceOnly(link('The account that prepared the run')),
  approved_by: serviceOnly(link('The account that approved the run')),
  approved_at: timeOnceDone('When the run was approved'),
  sent_at: timeOnceDone('When a file of the run was handed over'),
  closed_at: timeOnceDone('When the run was closed or cancelled'),
  reference: serviceOnly(
    words(
      line(40),
      "Reference of the run in its payment files: the reference of each payment is this, the letter A and the affiliate's identifier.",
      neither,
    ),
  ),
  last_results: serviceOnly(
    words(
      line(1000),
      'The results that were recorded last, and where they came from; empty before.',
      neither,
    ),
  ),
  refusal: serviceOnly(
    words(
      line(4000),
      'What had changed when the approval was refused, until the run is prepared or approved again; otherwise empty.',
      neither,
    ),
  ),
  /** Identifiers of affiliates that a person has left out, with commas between them: logged, as who approves asks for it. */
  left_out: {
    type: 'text',
    nullable: false,
    ...neither,
    wire: Type.Array(Type.Integer(), { description: 'Affiliates whom a person has left out.' }),
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
  /** How far an approval is, one of `verification`. */
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
  search: 'An identifier, or the reference of a run, of one of its files, or of one of its payments.',
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

/** One affiliate in a payout run: the payment, or why there is none. */
import { Type } from 'typebox'
import { choice, line, listOf } from '../../base/schemas.ts'
import { kind, type ReadRowOf, type RowOf, type TableOf } from '../../records/kind.ts'
import { anyOf, count, created, link, reference, status, words } from '../../records/kinds-of-field.ts'
import {
  derivedAmount,
  internalNumber,
  internalText,
  serviceOnly,
  timeOnceDone,
} from '../../records/service-fields.ts'
import { integer, neither, nullable, type RowsOf, type Table, text } from '../../storage/table.ts'
import { byAffiliateName } from '../affiliates/name.ts'
import { itemStatuses, reasons } from './words.ts'

export type ItemStatus = (typeof itemStatuses)[number]

export type Reason = (typeof reasons)[number]

const personal = { personal: 'erase', money: false } as const

const serviceText = (maxLength: number, description: string, facts: typeof personal | typeof neither) =>
  serviceOnly(words(line(maxLength), description, facts))

const fields = {
  payout_run_id: { ...serviceOnly(reference('payout_runs', 'The payout run.')), column: 'run_id' },
  affiliate_id: {
    ...serviceOnly(reference('affiliates', 'The affiliate.', { person: true, outlives: true })),
    orders: byAffiliateName,
  },
  status: serviceOnly(status(itemStatuses, 'included')),
  reason: {
    type: 'text',
    nullable: false,
    ...neither,
    wire: Type.String({ description: 'Why the affiliate is not paid; empty otherwise.' }),
    filter: anyOf(listOf(choice(reasons), 'Only items left out for one of these reasons.')),
    initial: '',
    show: (value: Reason | '') => value,
    sample: () => '' as const,
  },
  amount: derivedAmount('What the affiliate is paid, or would be paid.'),
  referrals: count('Number of referrals that the amount is the sum of.'),
  reference: serviceText(40, 'Reference of the payment in files and results.', neither),
  payee_name: serviceText(200, 'Name of the payee.', personal),
  payee_account: serviceText(
    254,
    'Where the payment goes: an address, or an account that is masked except for its end.',
    personal,
  ),
  payout_id: serviceOnly(link('The payout that records the payment')),
  note: serviceText(500, 'Note on the item.', neither),
  date: created('created_at', 'When the item was prepared'),
  settled_at: timeOnceDone('When the outcome was recorded'),
  /** SHA-256 of the referrals with their amounts, and of the payee (`digest.ts`). */
  digest: internalText({ ...neither, secret: true }),
  /** The payment details that are used; 0 where none are needed. */
  details_id: internalNumber({ ...neither, secret: true }),
} as const

const actions = ['edit'] as const

export const runItem = kind({
  name: 'run_item',
  table: 'run_items',
  title: 'Items of payout runs',
  fields,
  indexed: ['affiliate_id'],
  actions,
  // What results say of many has one event of the run.
  unlogged: ['status', 'reason', 'note', 'settled_at', 'payout_id'],
})

export type Item = RowOf<typeof fields>
export type ItemRow = ReadRowOf<typeof fields>

const fileColumns = {
  run_id: integer({ ...neither, references: { table: 'payout_runs' } }),
  format: text(neither),
  /** From 1. */
  part: integer(neither),
  downloaded_at: integer(neither),
  handed_over_at: nullable(integer(neither)),
  /** The account of whoever handed it over; 0 is the command line. */
  handed_over_by: integer(neither),
} as const

/** Which files of a run were downloaded and handed over. */
export const runFilesTable = {
  name: 'run_files',
  key: ['run_id', 'format', 'part'],
  columns: fileColumns,
  copied: 'rows',
} as const satisfies Table

interface RunItemsTable extends TableOf<typeof fields> {}
interface RunFilesTable extends RowsOf<typeof fileColumns> {}

import type {} from '../../events/schema.ts'
import type {} from '../../storage/tables.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    run_items: RunItemsTable
    run_files: RunFilesTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    run_item: (typeof actions)[number]
  }
}

/** The kind payout: its fields, and the index from referrals to payouts. */
import { type Static, Type } from 'typebox'
import { choice, identifier, identifiers, line, listOf, money, paragraphs } from '../../base/schemas.ts'
import { filter, sql } from '../../records/field.ts'
import { kind, type ReadRowOf, type RowOf, type TableOf } from '../../records/kind.ts'
import {
  amount,
  anyOf,
  creator,
  dated,
  reference,
  status,
  text,
  words,
} from '../../records/kinds-of-field.ts'
import { besideRecord, internalNumber } from '../../records/service-fields.ts'
import { type Generated, integer, neither, type RowsOf, type Table } from '../../storage/table.ts'
import { byAffiliateName } from '../affiliates/name.ts'

/** The most referrals that one payout may name. */
export const MOST_REFERRALS = 10_000
const MAX_REFERENCE = 190
const MAX_NOTE = 65_535

const referrals = Type.Array(identifier(), {
  maxItems: MOST_REFERRALS,
  description: 'Identifiers of the referrals that the payout pays; duplicates are ignored.',
})

/** An affiliate is deleted, the payouts made to them are not. */
const affiliate = reference('affiliates', 'The affiliate who is paid.', {
  person: true,
  outlives: true,
})

/** Of a payout that names no referral of this service nobody knows whether the money was sent again: it stays open. */
const failure = filter(
  choice(
    ['open', 'settled'],
    'Only failed payouts: those for which something is still unpaid, or those whose referrals have all been paid in another way or are no longer owed.',
  ),
)({
  keep: value => value,
  where: (column, stored) => [
    sql<boolean>`${column} = 'failed'`,
    sql<boolean>`CASE WHEN EXISTS (SELECT 1 FROM payout_referrals AS named
        WHERE named.payout_id = payouts.id AND named.known = 1)
      AND NOT EXISTS (SELECT 1 FROM payout_referrals AS named
        JOIN referrals ON referrals.id = named.referral_id
        WHERE named.payout_id = payouts.id AND named.known = 1 AND referrals.status = 'unpaid')
      THEN 'settled' ELSE 'open' END = ${stored}`,
  ],
})

const maker = filter(
  choice(['run', 'person'], 'Only payouts made by a payout run, or only those recorded by a person.'),
)({
  keep: value => value,
  where: (column, stored) => [sql<boolean>`CASE WHEN ${column} = 0 THEN 'person' ELSE 'run' END = ${stored}`],
})

const fields = {
  affiliate_id: { ...affiliate, orders: byAffiliateName, edit: affiliate.create },
  /** As the record shows it; `payout_referrals` is its index. */
  referrals: {
    type: 'text',
    nullable: false,
    ...neither,
    wire: Type.String({ description: 'Comma-separated identifiers of the referrals that it pays.' }),
    create: Type.Optional(referrals),
    edit: Type.Optional(referrals),
    filter: filter(identifiers('Only payouts that pay any of these referrals.'))({
      keep: ids => ids,
      where: (_column, ids: readonly number[]) => [
        sql<boolean>`payouts.id IN (SELECT payout_id FROM payout_referrals WHERE referral_id IN (${sql.join(ids)}))`,
      ],
    }),
    order: 'beginning',
    initial: '',
    show: (stored: string) => stored,
    json: (stored: string) => `"${stored}"`,
    keep: (ids: readonly number[]) => [...new Set(ids)].join(','),
    sample: () => '',
  },
  amount: {
    ...amount("Amount, in the programme's currency."),
    create: Type.Optional(
      money(
        'Amount, with no more decimals than the currency has; when omitted, the sum of the known referrals.',
      ),
    ),
  },
  payout_method: text(100, 'Payout method.', neither),
  status: { ...status(['paid', 'failed'], 'paid'), filters: { failure } },
  date: dated('created_at', 'When it was paid'),
  owner: creator('The account that created the payout.'),
  /** The item of a payout run that it was made of; 0 when a person made it. */
  run_item_id: { ...internalNumber({ ...neither, inEvents: true }), filters: { made_by: maker } },
  reference: {
    ...besideRecord(
      words(
        line(MAX_REFERENCE),
        'Reference of the bank or payment service. Not part of the record.',
        neither,
      ),
      { inEvents: true },
    ),
    filter: anyOf(listOf(line(MAX_REFERENCE), 'Only payouts with one of these references.')),
  },
  note: besideRecord(
    words(paragraphs(MAX_NOTE, 'Note on the payout. Not part of the record.'), 'Note on the payout.', {
      personal: 'erase',
      money: false,
    }),
    { inEvents: false },
  ),
} as const

const actions = ['create', 'edit', 'fail', 'return', 'delete'] as const

export type PayoutAction = `payout.${(typeof actions)[number]}`

export const payout = kind({
  name: 'payout',
  table: 'payouts',
  fields,
  actions,
  // What a payout run has tried to pay becomes a payout when it has failed or come back.
  creating: ['create', 'fail', 'return'],
  counted: 'status',
  indexed: ['affiliate_id', 'amount', 'payout_method', 'reference', 'status', 'date', 'owner'],
})

export type PayoutRecord = Static<typeof payout.record>
export type Payout = RowOf<typeof fields>
export type PayoutRow = ReadRowOf<typeof fields>

const referralColumns = {
  referral_id: integer(neither),
  payout_id: integer({ ...neither, references: { table: 'payouts' } }),
  /**
   * 1 when the identifier was a referral of this service when the payout first named it, even if that is deleted later.
   */
  known: integer<Generated<0 | 1>>(neither),
} as const

/** Which payouts pay a referral. */
export const payoutReferralsTable = {
  name: 'payout_referrals',
  key: ['referral_id', 'payout_id'],
  columns: referralColumns,
  copied: 'rows',
} as const satisfies Table

interface PayoutsTable extends TableOf<typeof fields> {}
interface PayoutReferralsTable extends RowsOf<typeof referralColumns> {}

import type {} from '../../events/schema.ts'
import type {} from '../../storage/tables.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    payouts: PayoutsTable
    payout_referrals: PayoutReferralsTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    payout: (typeof actions)[number]
  }
}

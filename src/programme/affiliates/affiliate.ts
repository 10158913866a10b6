/** The kind affiliate. */
import { type Static, Type } from 'typebox'
import { formatRate, parseRate } from '../../base/money.ts'
import { identifiers, line, listOf, optionalEmail, rate } from '../../base/schemas.ts'
import type { Settings } from '../../base/settings.ts'
import { filter, sql } from '../../records/field.ts'
import { type CrudAction, kind, type ReadRowOf, type RowOf, type TableOf } from '../../records/kind.ts'
import {
  anyOf,
  byTypeThenValue,
  count,
  created,
  inAnyCase,
  oneOf,
  optionalReference,
  paragraphs,
  reference,
  status,
} from '../../records/kinds-of-field.ts'
import { atCreation, besideRecord, derivedAmount } from '../../records/service-fields.ts'
import { neither } from '../../storage/table.ts'
import { byAccountName } from './name.ts'

export const statuses = ['active', 'inactive', 'pending', 'rejected'] as const

const personal = { personal: 'erase', money: false } as const
/** `x-configured` tells discovery where to find the currently valid values. */
const rateType = (description: string) =>
  Type.String({
    ...line(100, `${description} One of the configured rate types.`),
    'x-configured': 'rate_types',
  })

const fields = {
  user_id: {
    ...atCreation(
      reference('users', 'Identifier of the account that is linked to the affiliate.', { person: true }),
    ),
    orders: byAccountName,
    // Client programs send 0 with create_user.
    create: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: Number.MAX_SAFE_INTEGER,
        description: 'Identifier of the account to link, unless create_user is true.',
      }),
    ),
  },
  rate: {
    type: 'integer',
    nullable: true,
    ...neither,
    wire: Type.String({ description: 'Rate as decimal text; empty if not set.' }),
    orders: byTypeThenValue(sql`affiliates.rate_type`),
    create: Type.Optional(rate('Rate; the default applies when omitted.')),
    edit: Type.Optional(rate('New rate; empty unsets it, so that the default applies.')),
    initial: null,
    show: (stored: number | null) => formatRate(stored),
    json: (stored: number | null) => `"${formatRate(stored)}"`,
    keep: parseRate,
    sample: () => null,
  },
  rate_type: {
    type: 'text',
    nullable: true,
    ...neither,
    references: { table: 'rate_types', column: 'name' },
    wire: Type.String({ description: 'Rate type; empty if not set.' }),
    create: Type.Optional(rateType('Rate type; the default applies when omitted.')),
    edit: Type.Optional(rateType('New rate type; empty unsets it, so that the default applies.')),
    filter: filter(listOf(line(100), 'Only affiliates with one of these rate types.'))({
      // Whether one is empty has to show in the shape, for the query depends on it.
      keep: names => ({ names, unset: names.filter(name => name === '') }),
      where: (column, { names, unset }: Readonly<Record<'names' | 'unset', readonly string[]>>) =>
        // The index has those that are set.
        oneOf(unset.length > 0 ? sql`coalesce(${column}, '')` : column, names),
    }),
    initial: null,
    show: (stored: string | null) => stored ?? '',
    keep: (value: string) => value || null,
    problem: (value: string, { rateTypes }: Settings) =>
      value === '' || rateTypes.includes(value) ? undefined : `must be one of: ${rateTypes.join(', ')}.`,
    sample: () => null,
  },
  payment_email: {
    type: 'text',
    nullable: false,
    ...personal,
    folded: true,
    wire: Type.String({ description: 'E-mail address for payments; empty if not set.' }),
    create: Type.Optional(optionalEmail("E-mail address for payments; the account's applies when omitted.")),
    edit: Type.Optional(optionalEmail('New e-mail address for payments; empty unsets it.')),
    filter: inAnyCase(listOf(line(254), 'Only affiliates with one of these e-mail addresses for payments.')),
    initial: '',
    show: (stored: string) => stored,
    keep: (value: string) => value,
    sample: () => '',
  },
  status: status(statuses, 'pending'),
  earnings: derivedAmount('Sum of the paid referrals. A payout that pays none of them does not change it.'),
  unpaid_earnings: derivedAmount('Sum of the unpaid referrals.'),
  referrals: count('Number of unpaid and paid referrals, without refunds and write-offs.'),
  visits: count('Number of visits.'),
  date_registered: created('registered_at', 'When the affiliate was registered'),
  notes: besideRecord(paragraphs(65_535, 'Notes on the affiliate. Not part of the record.', personal), {
    inEvents: false,
  }),
  /** `group=1` adds it to the record. */
  group_id: {
    ...besideRecord(optionalReference('groups', 'The group that the affiliate belongs to'), {
      inEvents: true,
    }),
    filter: anyOf(identifiers('Only affiliates who belong to one of these groups.')),
  },
} as const

export const affiliate = kind({
  name: 'affiliate',
  table: 'affiliates',
  fields,
  counted: 'status',
  indexed: [
    'user_id',
    'payment_email',
    'status',
    'earnings',
    'unpaid_earnings',
    'referrals',
    'visits',
    'date_registered',
    'group_id',
  ],
  personal: ['account_login', 'account_email'],
  unlogged: ['earnings', 'unpaid_earnings', 'referrals', 'visits'],
  search:
    'An identifier, an e-mail address (of the account or for payments), or words or parts of words of the login name, e-mail address or display name, in any order.',
})

export type AffiliateRecord = Static<typeof affiliate.record>
export type Affiliate = RowOf<typeof fields>
export type AffiliateColumns = ReadRowOf<typeof fields>

interface AffiliatesTable extends TableOf<typeof fields> {}

import type {} from '../../events/schema.ts'
import type {} from '../../storage/tables.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    affiliates: AffiliatesTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    affiliate: CrudAction
  }
}

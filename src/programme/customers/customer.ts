/** The kind customer: a person who bought. */
import { isIP } from 'node:net'
import { Type } from 'typebox'
import { withoutHost } from '../../base/network.ts'
import { email, line, listOf } from '../../base/schemas.ts'
import { foldCase } from '../../base/text.ts'
import { filter, sql } from '../../records/field.ts'
import { kind, type TableOf } from '../../records/kind.ts'
import { dated, optionalReference, text, words } from '../../records/kinds-of-field.ts'

const personal = { personal: 'erase', money: false } as const

const ADDRESS =
  'Network of the IP address: only its first 24 bits are stored, or 48 for IPv6; empty if unknown.'

const fields = {
  user_id: optionalReference('users', "The customer's account", { person: true, outlives: true }),
  first_name: text(100, 'First name.', personal),
  last_name: text(100, 'Last name.', personal),
  email: {
    ...words(line(254), 'E-mail address.', personal),
    folded: true,
    create: email('E-mail address; unique, ignoring case.'),
    edit: Type.Optional(email('New e-mail address.')),
    filter: filter(listOf(line(254), 'Only customers with one of these e-mail addresses, ignoring case.'))({
      keep: (addresses: readonly string[]) => addresses.map(foldCase).filter(address => address !== ''),
      where: (_column, keys: readonly string[]) => [
        keys.length === 0
          ? sql<boolean>`1 = 0`
          : sql<boolean>`(customers.email_key IN (${sql.join(keys)}) AND customers.email_key <> '')`,
      ],
    }),
    sample: ({ random }: { random: () => number }) =>
      `customer.${random().toString(36).slice(2)}@example.com`,
  },
  ip: {
    ...words(line(45), ADDRESS, personal),
    keep: (value: string) => (value === '' ? '' : withoutHost(value)),
    problem: (value: string) =>
      value === '' || isIP(value) !== 0 ? undefined : 'must be an IPv4 or IPv6 address, or empty.',
  },
  date_created: dated('created_at', 'When the customer was first seen'),
  affiliate_id: optionalReference(
    'affiliates',
    'The affiliate to whom the customer belongs, and who is credited for what the customer buys',
    { outlives: true },
  ),
} as const

const actions = ['create', 'edit', 'delete', 'erase'] as const

export const customer = kind({
  name: 'customer',
  table: 'customers',
  fields,
  indexed: ['date_created'],
  actions,
  idLast: true,
  hasSearchIndex: true,
})

interface CustomersTable extends TableOf<typeof fields> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    customers: CustomersTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    customer: (typeof actions)[number]
  }
}

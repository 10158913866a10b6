/** The kind payment detail: a PayPal address or a bank account. Sealed; records show it masked. */
import { type Static, Type } from 'typebox'
import { choice, identifier, line, secret } from '../../base/schemas.ts'
import { formatTime } from '../../base/time.ts'
import { refusedIdentifiers } from '../../records/crud.ts'
import { kind, type RowOf, type TableOf } from '../../records/kind.ts'
import { created, link, reference, status, words } from '../../records/kinds-of-field.ts'
import { atCreation, internalText, serviceOnly } from '../../records/service-fields.ts'
import { integer, neither, type RowsOf, type Table } from '../../storage/table.ts'
import { byAffiliateName } from '../affiliates/name.ts'

const detailMethods = ['paypal', 'sepa', 'nacha'] as const

const personal = { personal: 'erase', money: false } as const

const fields = {
  affiliate_id: {
    ...atCreation(reference('affiliates', 'The affiliate who is paid.', { person: true, outlives: true })),
    orders: byAffiliateName,
  },
  method: {
    ...atCreation(status(detailMethods, 'paypal', 'What they are for.')),
    create: choice(detailMethods, 'What they are for.'),
  },
  holder: atCreation(words(line(70), 'Whom the account belongs to.', personal)),
  account: serviceOnly(words(line(254), 'The account, of which only its end can be read.', personal)),
  status: serviceOnly(status(['current', 'replaced', 'removed'], 'current')),
  usable_from: {
    type: 'integer',
    nullable: false,
    ...neither,
    wire: Type.String({ description: 'From when payout runs use them: YYYY-MM-DD HH:MM:SS, UTC.' }),
    initial: 0,
    show: (value: number) => formatTime(value),
    sample: () => 0,
  },
  date: created('created_at', 'When they were entered'),
  entered_by: serviceOnly(link('The account that entered them')),
  /** Sealed by the secret key, which is not in the database. */
  sealed: internalText({ ...personal, secret: true }),
} as const

const actions = ['create', 'replace', 'delete'] as const

export const paymentDetail = kind({
  name: 'payment_detail',
  table: 'payment_details',
  fields,
  indexed: ['affiliate_id'],
  actions,
})

export type PaymentDetail = RowOf<typeof fields>

export const createArguments = Type.Object({
  ...paymentDetail.create.properties,
  ...refusedIdentifiers(paymentDetail),
  affiliate_id: identifier('The affiliate who is paid.'),
  paypal_email: Type.Optional(
    Type.String({
      maxLength: 254,
      format: 'email',
      description: 'Of paypal: the address that PayPal knows.',
    }),
  ),
  iban: Type.Optional(secret(42, 'Of sepa: the IBAN, with or without spaces.')),
  bic: Type.Optional(line(11, 'Of sepa: the BIC of the bank; may be left out.')),
  routing_number: Type.Optional(line(9, 'Of nacha: the routing number of the bank.')),
  account_number: Type.Optional(secret(17, 'Of nacha: the number of the account.')),
  account_type: Type.Optional({
    ...choice(['checking', 'savings'], 'Of nacha: the type of the account.'),
    default: 'checking',
  }),
  company: Type.Optional(
    Type.Boolean({ default: false, description: 'Of nacha: whether the account belongs to a company.' }),
  ),
})

export type CreateArguments = Static<typeof createArguments>

/** The sealed content. */
export interface Account {
  readonly paypalEmail?: string
  readonly iban?: string
  readonly bic?: string
  readonly routingNumber?: string
  readonly accountNumber?: string
  readonly accountType?: 'checking' | 'savings'
  readonly company?: boolean
}

const addressColumns = {
  affiliate_id: integer(neither),
  changed_at: integer(neither),
} as const

/**
 * When the payment address of an affiliate last changed; changes of the account's address are recorded with the account.
 */
export const paymentAddressesTable = {
  name: 'payment_addresses',
  key: ['affiliate_id'],
  columns: addressColumns,
  copied: 'rows',
} as const satisfies Table

interface PaymentDetailsTable extends TableOf<typeof fields> {}
interface PaymentAddressesTable extends RowsOf<typeof addressColumns> {}

import type {} from '../../events/schema.ts'
import type {} from '../../storage/tables.ts'

declare module '../../storage/tables.ts' {
  interface Tables {
    payment_details: PaymentDetailsTable
    payment_addresses: PaymentAddressesTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    payment_detail: (typeof actions)[number]
  }
}

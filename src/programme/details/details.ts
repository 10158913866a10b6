/** The kind payment detail: a PayPal address or a bank account. Sealed; records show it masked. */
import { type Static, Type } from 'typebox'
import { MOST_ROUTING } from '../../base/banks.ts'
import { choice, identifier, line, secret, withDefault } from '../../base/schemas.ts'
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
    ...atCreation(status(detailMethods, 'paypal', 'Method that the details are for.')),
    create: choice(detailMethods, 'Method that the details are for.'),
  },
  holder: atCreation(words(line(70), 'Holder of the account.', personal)),
  account: serviceOnly(words(line(254), 'The account, masked except for its end.', personal)),
  status: serviceOnly(status(['current', 'replaced', 'removed'], 'current')),
  usable_from: {
    type: 'integer',
    nullable: false,
    ...neither,
    wire: Type.String({ description: 'When payout runs start to use them: YYYY-MM-DD HH:MM:SS, UTC.' }),
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
      description: 'For paypal: e-mail address of the PayPal account.',
    }),
  ),
  iban: Type.Optional(secret(42, 'For sepa: IBAN, with or without spaces.')),
  bic: Type.Optional(line(11, 'For sepa: BIC of the bank; optional.')),
  routing_number: Type.Optional(
    line(MOST_ROUTING, 'For nacha: routing number of the bank, with or without spaces.'),
  ),
  account_number: Type.Optional(secret(17, 'For nacha: account number.')),
  account_type: Type.Optional(
    withDefault(choice(['checking', 'savings'], 'For nacha: type of the account.'), 'checking'),
  ),
  company: Type.Optional(
    withDefault(Type.Boolean({ description: 'For nacha: whether the account belongs to a company.' }), false),
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

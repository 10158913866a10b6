/**
 * The kind conversion: what a shop reports. It is a fact, which the database refuses to change or delete. Only the
 * affiliate may be filled in later if none was credited, and personal values can be emptied.
 * See docs/decisions/conversions.md.
 */
import { type Static, Type } from 'typebox'
import { decimalsOf } from '../../base/currencies.ts'
import { parseExactly } from '../../base/json.ts'
import { fromUnits } from '../../base/money.ts'
import { choice, flag, line, listOf, money } from '../../base/schemas.ts'
import type { Settings } from '../../base/settings.ts'
import { filter, sql } from '../../records/field.ts'
import { kind, type ReadRowOf, type RowOf, type TableOf } from '../../records/kind.ts'
import { anyContext, anyOf, created, link } from '../../records/kinds-of-field.ts'
import { internalNumber, internalText, serviceOnly } from '../../records/service-fields.ts'
import { neither } from '../../storage/table.ts'
import { byAffiliateName } from '../affiliates/name.ts'
import { kinds as earningKinds, type SaleKind } from '../commission/sale.ts'

export const kinds = [...earningKinds, 'refund', 'dispute', 'dispute_won', 'attribution'] as const
export type ConversionKind = (typeof kinds)[number]

/** Kinds that a customer pays for. */
export const isPaid = (kind: ConversionKind): kind is 'sale' | 'renewal' =>
  kind === 'sale' || kind === 'renewal'
/** Kinds that take something back, or undo that. */
export const isReversal = (kind: ConversionKind): boolean => !isEarning(kind) && kind !== 'attribution'
export const isEarning = (kind: ConversionKind): kind is SaleKind => earningKinds.some(one => one === kind)

/** In the words of the index of those that are unattributed. */
const ofKind = (kind: SaleKind) => sql`conversions.kind = ${sql.lit(kind)}`

export const MAX_REFERENCE = 190

/** About the customer, so the erasure of an affiliate leaves it. */
const ofBuyer = { personal: 'keep', money: false } as const

const plainText = (description: string) =>
  ({
    type: 'text',
    nullable: false,
    ...neither,
    wire: Type.String({ description }),
    initial: '',
    show: (value: string) => value,
    sample: () => '',
  }) as const

const number = (description: string) => serviceOnly(link(description))

/** In the minor unit of the conversion's own currency, which `show` of the kind knows. */
const ownAmount = (description: string) =>
  ({
    type: 'integer',
    nullable: false,
    personal: false,
    money: true,
    wire: Type.Number({ description: `${description}, in the currency of the conversion.` }),
    order: false,
    initial: 0,
    show: (value: number) => value,
    sample: () => 0,
  }) as const

const json = <T>(wire: ReturnType<typeof Type.Unsafe<T>>, empty: T, facts: typeof neither | typeof ofBuyer) =>
  ({
    type: 'text',
    nullable: false,
    ...facts,
    wire,
    order: false,
    initial: '',
    show: (value: string): T => (value === '' ? empty : parseExactly(value)),
    sample: () => '',
  }) as const

/** Emptied when the customer is erased. */
const personal = (description: string) =>
  ({
    ...json(Type.Unsafe<object>({ type: 'object', description }), {}, neither),
    personal: 'erase',
  }) as const

export const saleLine = Type.Object({
  product: Type.Optional(line(MAX_REFERENCE, 'Product, as the shop names it.')),
  category: Type.Optional(line(MAX_REFERENCE, 'Category of the product, as the shop names it.')),
  quantity: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: 1_000_000,
      default: 1,
      description: 'Number of items that were bought.',
    }),
  ),
  amount: Type.Optional(money('What the customer paid for the whole line, without tax and shipping.')),
})

export type SentLine = Static<typeof saleLine>

const fields = {
  kind: {
    type: 'text',
    nullable: false,
    ...neither,
    wire: choice(kinds, 'What happened.'),
    filter: anyOf(listOf(choice(kinds), 'Only conversions of one of these kinds.')),
    initial: 'sale',
    show: (value: ConversionKind) => value,
    sample: () => 'sale' as const,
  },
  context: {
    ...plainText('The shop that it comes from, in lower case.'),
    filter: anyContext(),
  },
  reference: {
    ...plainText("The shop's identifier of the payment, such as the order number."),
    ...ofBuyer,
    alias: true,
    folded: true,
    filter: anyOf(listOf(line(MAX_REFERENCE), 'Only conversions with one of these references.')),
  },
  references: {
    ...json(
      Type.Unsafe<string[]>({
        type: 'array',
        items: { type: 'string' },
        description: 'Other identifiers of the same payment.',
      }),
      [],
      ofBuyer,
    ),
    column: 'aliases',
  },
  part: plainText('Distinguishes the refund or dispute from others of the payment; empty if it has no part.'),
  cumulative: {
    type: 'integer',
    nullable: false,
    ...neither,
    wire: Type.Boolean({ description: 'Whether the amount is the total taken back so far.' }),
    initial: 0,
    show: (value: number) => value === 1,
    sample: () => 0,
  },
  amount: ownAmount('What the customer paid, or got back'),
  currency: plainText('ISO 4217 code of the currency.'),
  tax: ownAmount('Tax included in the amount'),
  shipping: ownAmount('Shipping included in the amount'),
  discount: ownAmount('Discount already deducted from the amount'),
  lines: json(
    Type.Unsafe<SentLine[]>({ type: 'array', items: { type: 'object' }, description: 'What was bought.' }),
    [],
    ofBuyer,
  ),
  customer_id: {
    ...number('The customer'),
    references: { table: 'customers', person: true, outlives: true },
  },
  country: plainText("ISO 3166-1 code of the customer's country; empty if unknown."),
  visit_id: number('The visit that led to it'),
  coupon: plainText('The coupon that was used.'),
  campaign: plainText('The campaign that led to it.'),
  affiliate_id: {
    ...number('The affiliate who is credited'),
    references: { table: 'affiliates', outlives: true },
    orders: byAffiliateName,
    filters: {
      unattributed: filter(
        flag(
          'Only leads, sales and renewals for which nobody is credited; false: only conversions for which somebody is.',
        ),
      )({
        keep: (value): { none?: true; some?: true } => (value ? { none: true } : { some: true }),
        where: (column, value) => [
          value.none
            ? sql<boolean>`(${column} = 0 AND (${sql.join(earningKinds.map(ofKind), sql` OR `)}))`
            : sql<boolean>`${column} <> 0`,
        ],
      }),
    },
  },
  source_id: number('The source that reported it'),
  occurred_at: {
    ...created('occurred_at', 'When it happened'),
    filters: {},
  },
  date: created('created_at', 'When it was reported'),
  customer: personal('The customer as sent; empty if customer_id is 0, or once the person is erased.'),
  metadata: personal('Anything that the sender wants to store with it.'),
  /** Candidates for the credit, and why each was credited or not. */
  candidates: internalText({ ...neither, secret: true }),
  /** 1 if the report named no currency, and its sale was not known: it is in that of the sale, see `inCurrencyOfSale`. */
  currency_assumed: internalNumber({ ...neither, secret: true }),
} as const

const actions = ['create', 'unattributed', 'attribute', 'claim'] as const

const plain = kind({
  name: 'conversion',
  table: 'conversions',
  fields,
  actions,
  creating: ['create', 'unattributed'],
  plain: ['refused'],
  indexed: ['affiliate_id', 'date'],
  search:
    'An identifier (digits alone also find a whole reference), or words or parts of words of the reference or the other identifiers of the payment, in any order.',
})

const amounts = ['amount', 'tax', 'shipping', 'discount'] as const

type ConversionRow = ReadRowOf<typeof fields>

function show(row: ConversionRow, settings: Settings) {
  const record = plain.show(row, settings)
  return { ...record, ...amountsOf(row) }
}

function amountsOf(row: Pick<ConversionRow, 'currency' | (typeof amounts)[number]>) {
  const decimals = decimalsOf(row.currency) ?? 0
  return {
    amount: fromUnits(row.amount, decimals),
    tax: fromUnits(row.tax, decimals),
    shipping: fromUnits(row.shipping, decimals),
    discount: fromUnits(row.discount, decimals),
  }
}

export const conversion = {
  ...plain,
  table: {
    ...plain.table,
    appendOnly: true,
    // Events name no account of a customer, so they could not be erased with the customer: nothing personal is logged.
    logged: { ...plain.table.logged, personal: [] },
  },
  show,
  write: (row: ConversionRow, settings: Settings) => JSON.stringify(show(row, settings)),
  logged: (row: Conversion, settings: Settings) => ({ ...plain.logged(row, settings), ...amountsOf(row) }),
} as const

export type Conversion = RowOf<typeof fields>

interface ConversionsTable extends TableOf<typeof fields> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    conversions: ConversionsTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    conversion: (typeof actions)[number]
  }
}

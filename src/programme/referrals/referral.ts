/** The kind referral: an amount owed to an affiliate for a sale or a lead. */
import { type Static, Type } from 'typebox'
import { parseExactly, problemOfJson } from '../../base/json.ts'
import { decimalsReason, decimalText, MAX_AMOUNT, toUnits } from '../../base/money.ts'
import {
  choice,
  currency,
  identifiers,
  line,
  listOf,
  moment,
  paragraphs,
  withDefault,
} from '../../base/schemas.ts'
import type { Settings } from '../../base/settings.ts'
import { kind, type RowOf, type TableOf } from '../../records/kind.ts'
import {
  amount,
  amountFilter,
  anyCurrency,
  anyOf,
  context,
  dated,
  elsewhere,
  link,
  optionalTime,
  reference,
  status,
  whether,
  words,
} from '../../records/kinds-of-field.ts'
import { besideRecord, internalNumber, internalText, serviceOnly } from '../../records/service-fields.ts'
import { neither } from '../../storage/table.ts'
import { byAffiliateName } from '../affiliates/name.ts'
import { draftReasons } from '../commission/engine.ts'
import { types } from './types.ts'

/** As long as in AffiliateWP. */
const MAX_REFERENCE = 190
const MAX_JSON = 65_535

/** A draft waits for a rate or a rule; only the service makes drafts. */
export const statuses = ['draft', 'pending', 'unpaid', 'paid', 'rejected'] as const
const sentStatuses = ['pending', 'unpaid', 'paid', 'rejected'] as const

/** It is about the customer, so it stays when the affiliate is erased. */
const ofBuyer = { personal: 'keep', money: false } as const

/** A link that is shown as text, as client programs of AffiliateWP expect. */
const textLink = (description: string) =>
  ({
    ...link(description),
    wire: Type.String({ description: `${description}, as text; "0" if there is none.` }),
    show: (stored: number) => String(stored),
    json: (stored: number) => `"${stored}"`,
  }) as const

/** Anything that was sent: text, a list or an object. */
const anything = (description: string) =>
  ({
    type: 'text',
    nullable: false,
    ...ofBuyer,
    wire: Type.Unknown({ description }),
    create: Type.Optional(Type.Unknown({ description })),
    edit: Type.Optional(Type.Unknown({ description })),
    order: 'beginning',
    initial: '',
    show: (stored: string): unknown => (stored === '' ? '' : parseExactly(stored)),
    json: (stored: string) => stored || '""',
    keep: (value: unknown) => (value === '' ? '' : JSON.stringify(value)),
    problem: (value: unknown) => problemOfJson(value, MAX_JSON),
    sample: () => '',
  }) as const

const money = (how: string) =>
  Type.Number({
    minimum: -MAX_AMOUNT,
    maximum: MAX_AMOUNT,
    description: `What the affiliate earns. ${how} Only refunds and write-offs can be negative.`,
  })

const affiliate = reference('affiliates', 'The affiliate who earned it.', { person: true, outlives: true })

const total = Type.Number({
  minimum: 0,
  maximum: MAX_AMOUNT,
  description: 'What the customer paid, in the same currency as the amount.',
})
/** It says what the affiliate did, so it is erased with them. */
const rejection = words(
  line(500),
  'Reason for the rejection, for the affiliate; only if the referral is or becomes rejected.',
  { personal: 'erase', money: false },
)

const fields = {
  affiliate_id: { ...affiliate, orders: byAffiliateName, create: Type.Optional(affiliate.create) },
  visit_id: link('The visit that led to it'),
  rest_id: elsewhere,
  customer_id: textLink('The customer who bought'),
  parent_id: link('The referral that it takes back or adds to'),
  description: {
    ...words(paragraphs(MAX_JSON, 'What was bought.'), 'What was bought.', ofBuyer),
    order: 'beginning',
    folded: true,
    isName: true,
  },
  status: {
    ...status(statuses, 'pending'),
    create: Type.Optional(
      Type.Unsafe<(typeof sentStatuses)[number]>({
        ...choice(sentStatuses, 'Status; when omitted, pending, or unpaid for a write-off.'),
      }),
    ),
    edit: Type.Optional(choice(sentStatuses, 'New status.')),
    filter: anyOf(listOf(choice(statuses), 'Only referrals with one of these statuses.')),
    sample: () => 'unpaid' as const,
  },
  amount: {
    ...amount('What the affiliate earns'),
    // Refunds and write-offs may be negative.
    filter: amountFilter(-MAX_AMOUNT),
    wire: Type.String({
      description: 'What the affiliate earns, with the decimals of the currency: "10.00".',
    }),
    create: Type.Optional(money('When omitted with order_total sent, the commission rules decide.')),
    edit: Type.Optional(money('Unchanged when omitted, whatever order_total is.')),
    show: (stored: number, { decimals }: Settings) => decimalText(stored, decimals),
    json: (stored: number, { decimals }: Settings) => `"${decimalText(stored, decimals)}"`,
  },
  currency: {
    ...words(line(3), 'ISO 4217 code of the currency.', neither),
    create: Type.Optional(
      currency(
        "ISO 4217 code of the currency in which the amount is sent, and from which it is converted; the programme's when omitted.",
      ),
    ),
    edit: Type.Optional(currency("Must be the programme's currency, in which the amount is.")),
    keep: (value: string) => value.toUpperCase(),
  },
  custom: anything('Anything that the sender wants to store with it: text, a list or an object.'),
  context: {
    ...context('Where the referral comes from, such as the shop; stored in lower case.', ['ref_context']),
    searched: true,
  },
  campaign: {
    ...words(line(190), 'The campaign that led to it.', neither),
    folded: true,
    isName: true,
    filter: anyOf(listOf(line(190), 'Only referrals from one of these campaigns.')),
  },
  reference: {
    ...words(line(MAX_REFERENCE), "The sender's identifier of it, such as the order number.", ofBuyer),
    alias: true,
    folded: true,
    filter: anyOf(listOf(line(MAX_REFERENCE), 'Only referrals with one of these references.')),
  },
  products: {
    ...anything('The products that were bought, as a list; empty if not sent.'),
    problem: (value: unknown) =>
      value === '' || Array.isArray(value) ? problemOfJson(value, MAX_JSON) : 'must be a list of products.',
  },
  date: dated('created_at', 'When it was earned'),
  type: {
    ...status(types, 'sale', 'Type.'),
    searched: true,
    create: Type.Optional(withDefault(choice(types, 'Type.'), 'sale')),
    edit: Type.Optional(choice(types, 'New type.')),
    filter: anyOf(listOf(choice(types), 'Only referrals of one of these types.')),
    sample: () => 'sale' as const,
  },
  payout_id: serviceOnly(textLink('The payout that paid it')),
  order_total: {
    type: 'integer',
    nullable: true,
    inEvents: true,
    personal: false,
    money: true,
    create: Type.Optional(total),
    edit: Type.Optional(total),
    initial: null,
    show: (stored: number | null, { decimals }: Settings) =>
      stored === null ? '' : decimalText(stored, decimals),
    keep: (value: number, { decimals }: Settings) => toUnits(value, decimals)!,
    problem: (value: number, settings: Settings) =>
      toUnits(value, settings.decimals) === undefined ? decimalsReason(settings) : undefined,
    sample: () => null,
  },
  /** When a hold ends. A pending referral without one waits for a review. */
  hold_until: {
    ...besideRecord(
      optionalTime(
        'first',
        'When a pending referral becomes unpaid automatically',
        'none, so that it waits for a review',
      ),
      { inEvents: true },
    ),
    create: Type.Optional(
      moment('When a pending referral becomes unpaid automatically; only by a review when omitted.'),
    ),
  },
  /** The reason that a person has given for the rejection; removed when the rejection ends. */
  rejection_reason: { ...besideRecord(serviceOnly(rejection), { inEvents: true }), edit: rejection.edit },
  /** Why the service has given it its status, or what a refund follows from; '' if a person has decided. */
  reason: {
    ...internalText({ ...neither, inEvents: true }),
    filter: anyOf(
      listOf(choice(draftReasons), 'Only drafts that the service made for one of these reasons.'),
    ),
  },
  /** The conversion that it follows from; 0 if none was reported. */
  conversion_id: {
    ...internalNumber({ ...neither, inEvents: true }),
    filter: anyOf(identifiers('Only referrals of one of these conversions.')),
  },
  /** The version of the rule that was applied; 0 if none was. */
  rule_id: {
    ...internalNumber({ ...neither, inEvents: true }),
    filter: anyOf(identifiers('Only referrals to which one of these versions of rules was applied.')),
  },
  /** What was earned in another currency, in its minor unit, and the exchange rate. */
  original_amount: {
    type: 'integer',
    nullable: true,
    inEvents: true,
    ...neither,
    initial: null,
    show: (stored: number | null) => stored ?? '',
    sample: () => null,
  },
  original_currency: {
    ...internalText({ ...neither, inEvents: true }),
    filter: anyCurrency("Only referrals earned in one of these currencies, other than the programme's."),
  },
  exchange_rate: internalText({ ...neither, inEvents: true }),
  /** How its amount was computed, see `commission/calculation.ts`; '' if the amount was sent. */
  calculation: internalText({ ...neither, secret: true }),
  /** The item of an approved payout run that has reserved or paid it; 0 if there is none. */
  run_item_id: {
    ...internalNumber({ ...neither, inEvents: true }),
    filters: {
      in_run: whether(
        'yes',
        'no',
        'Only referrals that an approved payout run has reserved or paid, or only those that none has.',
      ),
    },
  },
  /** 1 if no other referral may have the same context, reference, affiliate and type. */
  unique_reference: internalNumber({ ...neither, secret: true }),
  /** SHA-256 of the arguments with which it was created, by which a repeated request is recognised. */
  request_hash: internalText({ ...neither, secret: true }),
} as const

const actions = ['create', 'edit', 'approve', 'reject', 'pay', 'return', 'delete'] as const

export const referral = kind({
  name: 'referral',
  table: 'referrals',
  fields,
  indexed: ['affiliate_id', 'amount', 'reference', 'status', 'date'],
  idLast: true,
  actions,
  // Logged if refunds or disputes change what is left of the sale, and the amount stays the same (`coverAnew`).
  plain: ['left'],
})

export type Referral = RowOf<typeof fields>
export type ReferralRecord = Static<typeof referral.record>

interface ReferralsTable extends TableOf<typeof fields> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    referrals: ReferralsTable
  }
}

declare module '../../events/schema.ts' {
  interface Actions {
    referral: (typeof actions)[number]
  }
}

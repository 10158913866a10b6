/** The arguments of a report, and the answer. */
import { type Static, Type } from 'typebox'
import { choice, flag, identifier, line, moment, money, optionalEmail } from '../../base/schemas.ts'
import { referral } from '../referrals/referral.ts'
import { bys } from './attribution.ts'
import { conversion, kinds, MAX_REFERENCE, saleLine } from './conversion.ts'

const MAX_REFERENCES = 20
const MAX_LINES = 200
const MAX_TOKEN = 2048

const name = (description: string) => line(MAX_REFERENCE, description)

const customer = Type.Object({
  id: Type.Optional(name("The shop's identifier of the customer.")),
  email: Type.Optional(optionalEmail('E-mail address.')),
  first_name: Type.Optional(line(100, 'First name.')),
  last_name: Type.Optional(line(100, 'Last name.')),
  country: Type.Optional(line(2, 'Country: ISO 3166-1 code of two letters.')),
})

const click = Type.Object({
  first: Type.Optional(line(MAX_TOKEN, 'Token of the first click.')),
  last: Type.Optional(line(MAX_TOKEN, 'Token of the last click.')),
})

export const createArguments = Type.Object({
  kind: choice(kinds, 'What happened.'),
  context: Type.Optional(line(100, 'The shop that it comes from; stored in lower case.')),
  reference: name("The shop's identifier of the payment, such as the order number."),
  references: Type.Optional(
    Type.Array(line(MAX_REFERENCE), {
      maxItems: MAX_REFERENCES,
      description: 'Other identifiers of the same payment: session, payment intent, charge, invoice.',
    }),
  ),
  part: Type.Optional(
    name(
      'Distinguishes the refund or dispute from others of the payment; required for both unless the amount is cumulative.',
    ),
  ),
  cumulative: Type.Optional(
    flag(
      'For refunds and disputes: whether the amount is the total taken back so far. For a refund with a part, it is the total of that part, such as one of several charges.',
    ),
  ),
  amount: Type.Optional(
    money(
      'What the customer paid or got back, including tax and shipping; optional for leads and attributions.',
    ),
  ),
  currency: Type.Optional(
    line(3, "ISO 4217 code; when omitted, that of the sale that is taken back, or else the programme's."),
  ),
  tax: Type.Optional(money('Tax included in the amount.')),
  shipping: Type.Optional(money('Shipping included in the amount.')),
  discount: Type.Optional(money('Discount already deducted from the amount.')),
  lines: Type.Optional(Type.Array(saleLine, { maxItems: MAX_LINES, description: 'What was bought.' })),
  customer: Type.Optional({ ...customer, description: 'The customer who bought.' }),
  country: Type.Optional(
    line(
      2,
      "The customer's country: ISO 3166-1 code of two letters. Same as customer.country, which takes precedence.",
    ),
  ),
  click: Type.Optional({ ...click, description: 'Click tokens that the shop has stored.' }),
  visit_id: Type.Optional(identifier('The visit that led to it.')),
  coupon: Type.Optional(name('The coupon that was used.')),
  affiliate_id: Type.Optional(
    identifier('The affiliate to credit, ahead of all that the other arguments name.'),
  ),
  occurred_at: Type.Optional(moment('When it happened; now when omitted.')),
  metadata: Type.Optional(Type.Unknown({ description: 'An object to store with it.' })),
})

export type CreateArguments = Static<typeof createArguments>

const candidate = Type.Object(
  {
    by: choice(bys, 'What names the affiliate.'),
    affiliate_id: Type.Integer({ description: 'The affiliate; 0 if there is none.' }),
    credited: Type.Boolean(),
    reason: Type.String({ description: 'Why they are not credited; empty for the one who is.' }),
    text: Type.String({ description: 'The same in words.' }),
  },
  { title: 'Candidate' },
)

export const explanationSchema = Type.Object(
  {
    conversion_id: Type.Integer(),
    affiliate_id: Type.Integer({ description: 'The affiliate who is credited; 0 if nobody is.' }),
    candidates: Type.Array(candidate, {
      description: 'Candidates for the credit, in order of precedence.',
    }),
    payment: Type.Partial(
      Type.Object({
        conversion_id: Type.Integer({ description: 'The sale.' }),
        currency: Type.String(),
        paid: Type.Number(),
        refunded: Type.Number(),
        disputed: Type.Number({
          description: 'Amount that is disputed, was lost in a dispute, or was cancelled.',
        }),
        left: Type.Number(),
      }),
      {
        description:
          'What was paid, what was taken back and what is left, in the currency of the sale; empty until the sale is reported.',
      },
    ),
    referrals: Type.Array(
      Type.Object({
        referral_id: Type.Integer(),
        affiliate_id: Type.Integer(),
        conversion_id: Type.Integer(),
        parent_id: Type.Integer({
          description: 'The referral that it takes back or adds to; 0 if there is none.',
        }),
        type: Type.String(),
        status: Type.String(),
        reason: Type.String({
          description: 'Why it has this status or amount; empty if there is nothing to say.',
        }),
        amount: Type.Number({ description: "Amount in the programme's currency." }),
      }),
      { description: 'Referrals of the payment.' },
    ),
    sentences: Type.Array(Type.String(), { description: 'The explanation in words.' }),
  },
  { title: 'ConversionExplanation' },
)

export type Explanation = Static<typeof explanationSchema>

export const createdSchema = Type.Object({
  conversion: conversion.record,
  referrals: Type.Array(referral.record),
  explanation: explanationSchema,
})

/** Kinds of entries in a payment's timeline, in their order within one second. */
export const moments = ['visit', 'conversion', 'referral', 'payout'] as const

export const timelineSchema = Type.Object({
  timeline: Type.Array(
    Type.Object({
      date: Type.String({ description: 'Time: YYYY-MM-DD HH:MM:SS, UTC.' }),
      kind: choice(moments, 'Kind of record that the entry is about.'),
      id: Type.Integer({ description: 'Identifier of the record.' }),
      text: Type.String({ description: 'What happened.' }),
    }),
  ),
})

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
  id: Type.Optional(name('What the shop calls the customer.')),
  email: Type.Optional(optionalEmail('E-mail address.')),
  first_name: Type.Optional(line(100, 'First name.')),
  last_name: Type.Optional(line(100, 'Last name.')),
  country: Type.Optional(line(2, 'Country, ISO 3166-1: two letters.')),
})

const click = Type.Object({
  first: Type.Optional(line(MAX_TOKEN, 'The token of the first click.')),
  last: Type.Optional(line(MAX_TOKEN, 'The token of the last click.')),
})

export const createArguments = Type.Object({
  kind: choice(kinds, 'What happened.'),
  context: Type.Optional(line(100, 'The shop that it comes from; lower case.')),
  reference: name('What the shop calls the payment, such as the number of the order.'),
  references: Type.Optional(
    Type.Array(line(MAX_REFERENCE), {
      maxItems: MAX_REFERENCES,
      description: 'Other names of the same payment: session, payment intent, charge, invoice.',
    }),
  ),
  part: Type.Optional(
    name('Which refund or dispute of the payment it is; required of both unless the amount is cumulative.'),
  ),
  cumulative: Type.Optional(
    flag(
      'Of a refund or dispute: whether the amount is all that was taken back so far; of a refund with a part, all of that part, such as one of several charges.',
    ),
  ),
  amount: Type.Optional(
    money('What the customer paid or got back, with tax and shipping; optional of leads and attributions.'),
  ),
  currency: Type.Optional(
    line(3, "ISO 4217 code; when omitted that of the sale which is taken back, and else the programme's."),
  ),
  tax: Type.Optional(money('Tax within the amount.')),
  shipping: Type.Optional(money('Shipping within the amount.')),
  discount: Type.Optional(money('Discount that the amount is without.')),
  lines: Type.Optional(Type.Array(saleLine, { maxItems: MAX_LINES, description: 'What was bought.' })),
  customer: Type.Optional({ ...customer, description: 'Who bought.' }),
  country: Type.Optional(
    line(
      2,
      "The customer's country, ISO 3166-1: two letters. The same as customer.country, which comes first.",
    ),
  ),
  click: Type.Optional({ ...click, description: 'Click tokens that the shop has kept.' }),
  visit_id: Type.Optional(identifier('The visit that led to it.')),
  coupon: Type.Optional(name('The coupon that was used.')),
  affiliate_id: Type.Optional(identifier('Who is credited, whatever else is sent.')),
  occurred_at: Type.Optional(moment('When it happened; now when omitted.')),
  metadata: Type.Optional(Type.Unknown({ description: 'An object that is kept with it.' })),
})

export type CreateArguments = Static<typeof createArguments>

const candidate = Type.Object(
  {
    by: choice(bys, 'What names the affiliate.'),
    affiliate_id: Type.Integer({ description: 'The affiliate; 0 when there is none.' }),
    credited: Type.Boolean(),
    reason: Type.String({ description: 'Why they are not credited; empty of the one who is.' }),
    text: Type.String({ description: 'The same as a sentence.' }),
  },
  { title: 'Candidate' },
)

export const explanationSchema = Type.Object(
  {
    conversion_id: Type.Integer(),
    affiliate_id: Type.Integer({ description: 'Who is credited; 0 when nobody is.' }),
    candidates: Type.Array(candidate, {
      description: 'Who came into question, in the order of their claims.',
    }),
    payment: Type.Partial(
      Type.Object({
        conversion_id: Type.Integer({ description: 'The sale.' }),
        currency: Type.String(),
        paid: Type.Number(),
        refunded: Type.Number(),
        disputed: Type.Number({ description: 'What is disputed, or was lost or cancelled.' }),
        left: Type.Number(),
      }),
      {
        description:
          'What was paid, taken back and is left, in the currency of the sale; empty while that is not reported.',
      },
    ),
    referrals: Type.Array(
      Type.Object({
        referral_id: Type.Integer(),
        affiliate_id: Type.Integer(),
        conversion_id: Type.Integer(),
        parent_id: Type.Integer({ description: 'The referral that it takes back or adds to; 0 for none.' }),
        type: Type.String(),
        status: Type.String(),
        reason: Type.String({ description: 'Why it is what it is; empty when nothing is to be said.' }),
        amount: Type.Number({ description: "In the programme's currency." }),
      }),
      { description: 'What is owed because of it.' },
    ),
    sentences: Type.Array(Type.String(), { description: 'All of it in words.' }),
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
      date: Type.String({ description: 'When: YYYY-MM-DD HH:MM:SS, UTC.' }),
      kind: choice(moments, 'Of which record it tells.'),
      id: Type.Integer({ description: 'Identifier of the record.' }),
      text: Type.String({ description: 'What happened.' }),
    }),
  ),
})

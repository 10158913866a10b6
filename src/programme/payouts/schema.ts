import { type Static, Type } from 'typebox'
import { MAX_AMOUNT } from '../../base/money.ts'
import { choice, identifier, identifiers, line, listOf, money, since, span } from '../../base/schemas.ts'

export const statuses = ['paid', 'failed'] as const

/** The record that every payout endpoint shows; its fields in this order. */
export const payoutRecord = Type.Object({
  payout_id: Type.Integer({ description: 'Identifier of the payout.' }),
  id: Type.Integer({ description: 'Always equal to payout_id.' }),
  affiliate_id: Type.Integer({ description: 'Affiliate the payout belongs to.' }),
  referrals: Type.String({ description: 'Comma-separated identifiers of the referrals that it pays.' }),
  amount: Type.Number({ description: 'Amount, in the currency of the settings.' }),
  payout_method: Type.String({ description: 'Names the method.' }),
  status: choice(statuses, 'Status.'),
  date: Type.String({ description: 'When the payout was recorded: YYYY-MM-DD HH:MM:SS, UTC.' }),
  owner: Type.Integer({ description: 'The user account whose API key made the payout.' }),
})

export type PayoutRecord = Static<typeof payoutRecord>

export const itemArguments = { payout_id: identifier('Identifier of the payout.') }

const referrals = Type.Array(identifier(), {
  maxItems: 10_000,
  description: 'Identifiers of the referrals that the payout pays; duplicates are dropped.',
})
const method = line(100, 'Names the payout method.')
const affiliateId = identifier('The affiliate that the payout is for.')
const amount = money('Amount, in the currency of the settings, with no more decimals than it has.')

export const createArguments = Type.Object({
  affiliate_id: affiliateId,
  referrals: Type.Optional(referrals),
  amount: Type.Optional(Type.Number({ ...amount, default: 0 })),
  payout_method: Type.Optional(Type.String({ ...method, default: '' })),
  status: Type.Optional(
    Type.Unsafe<(typeof statuses)[number]>({
      ...choice(statuses, 'Status; paid when omitted.'),
      default: 'paid',
    }),
  ),
})

export type CreateArguments = Static<typeof createArguments>

export const editArguments = Type.Object({
  ...itemArguments,
  affiliate_id: affiliateId,
  referrals: Type.Optional(referrals),
  amount: Type.Optional(amount),
  payout_method: Type.Optional(method),
  status: Type.Optional(choice(statuses, 'New status.')),
})

export type EditArguments = Static<typeof editArguments>

export const comparisons = ['=', '!=', '<', '<=', '>', '>='] as const

/** What a list can be narrowed by. */
export const filterArguments = {
  search: Type.Optional(line(254, 'An identifier, or a part of the payout method.')),
  payout_id: Type.Optional(identifiers('Only these payouts.')),
  exclude: Type.Optional(identifiers('Not these payouts.')),
  affiliate_id: Type.Optional(identifiers('Only payouts to these affiliates.')),
  referrals: Type.Optional(identifiers('Only payouts that pay any of these referrals.')),
  amount: Type.Optional(
    Type.Union(
      [
        money('This amount, or what amount_compare makes of it.'),
        Type.Object({
          min: Type.Optional(money('At least this amount.')),
          max: Type.Optional(money('At most this amount.')),
        }),
      ],
      { description: `An amount from 0 to ${MAX_AMOUNT}, or amount[min] and amount[max], inclusive.` },
    ),
  ),
  amount_compare: Type.Optional(
    Type.Unsafe<(typeof comparisons)[number]>({
      ...choice(comparisons, 'How amount is compared.'),
      default: '=',
    }),
  ),
  payout_method: Type.Optional(listOf(line(100), 'Only these payout methods.')),
  status: Type.Optional(listOf(choice(statuses), 'Only these statuses.')),
  owner: Type.Optional(identifiers('Only payouts made by these accounts.')),
  date: Type.Optional(span('When the payout was recorded: a day, or date[start] and date[end], inclusive.')),
  updated_since: Type.Optional(since('Only what was created or changed at this time or later.')),
}

const filters = Type.Object(filterArguments)
export type FilterArguments = Static<typeof filters>

const part = { count: Type.Integer(), sum: Type.Number() }

/** How many payouts there are among those that a list is narrowed to, and what they come to. */
export const payoutTotals = Type.Object({
  ...part,
  paid: Type.Object(part, { description: 'Those that were paid.' }),
  failed: Type.Object(part, { description: 'Those that failed.' }),
})

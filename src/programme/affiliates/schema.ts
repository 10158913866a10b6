import { type Static, Type } from 'typebox'
import { MAX_LOGIN_LENGTH } from '../../accounts/users/schema.ts'
import {
  choice,
  email,
  flag,
  identifier,
  identifiers,
  line,
  listOf,
  optionalEmail,
  paragraphs,
  rate,
  since,
  span,
} from '../../base/schemas.ts'

export const statuses = ['active', 'inactive', 'pending', 'rejected'] as const

/** The record that every affiliate endpoint shows; its fields in this order. */
export const affiliateRecord = Type.Object({
  affiliate_id: Type.Integer({ description: 'Identifier of the affiliate.' }),
  id: Type.Integer({ description: 'Always equal to affiliate_id.' }),
  user_id: Type.Integer({ description: 'Identifier of the user account linked to the affiliate.' }),
  rate: Type.String({ description: 'Rate as decimal text; empty when not set.' }),
  rate_type: Type.String({ description: 'Rate type; empty when not set.' }),
  payment_email: Type.String({ description: 'E-mail address for payments; empty when not set.' }),
  status: choice(statuses, 'Status.'),
  earnings: Type.Number({
    description:
      'Earnings that were paid, as the referrals count them: recording a payout does not change it.',
  }),
  unpaid_earnings: Type.Number({
    description: 'Earnings that are still to be paid, as the referrals count them.',
  }),
  referrals: Type.Integer({ description: 'Count of referrals.' }),
  visits: Type.Integer({ description: 'Count of visits.' }),
  date_registered: Type.String({
    description: 'When the affiliate was registered: YYYY-MM-DD HH:MM:SS, UTC.',
  }),
})

/** What `user=1` and `effective=1` add to it. */
export const affiliateExtras = Type.Object({
  user: Type.Optional(
    Type.Object(
      {
        ID: Type.Integer(),
        user_login: Type.String(),
        user_email: Type.String(),
        display_name: Type.String(),
        first_name: Type.String(),
        last_name: Type.String(),
        user_registered: Type.String(),
      },
      { description: 'The linked account; only with user=1.' },
    ),
  ),
  effective: Type.Optional(
    Type.Object(
      { rate: Type.String(), rate_type: Type.String(), payment_email: Type.String() },
      { description: 'What applies: the own value, else the default; only with effective=1.' },
    ),
  ),
})

export type AffiliateRecord = Static<typeof affiliateRecord> & Static<typeof affiliateExtras>

/** `x-configured` tells discovery where the values come from that apply at the moment. */
const rateType = (description: string) =>
  Type.String({
    ...line(100, `${description} One of the configured rate types.`),
    'x-configured': 'rate_types',
  })
const status = choice(statuses, 'Status; pending when omitted.')
const notes = paragraphs(65_535, 'Notes on the affiliate. They are not part of the record.')

export const itemArguments = { affiliate_id: identifier('Identifier of the affiliate.') }

export const extrasArguments = {
  user: Type.Optional(flag('Adds the linked account to the record.')),
  effective: Type.Optional(
    flag('Adds the rate, rate type and payment e-mail address that apply, defaults included.'),
  ),
}

export const createArguments = Type.Object({
  user_id: Type.Optional(identifier('The account to link. Used when create_user is not true.')),
  create_user: Type.Optional(
    flag('Makes a new account out of payment_email, which then is required and must be unique.'),
  ),
  username: Type.Optional(
    line(
      MAX_LOGIN_LENGTH,
      'Login name of the new account: letters, digits, space and _.-@. Made from payment_email when omitted.',
    ),
  ),
  rate: Type.Optional(rate('Rate; the default applies when omitted.')),
  rate_type: Type.Optional(rateType('Rate type; the default applies when omitted.')),
  payment_email: Type.Optional(
    optionalEmail("E-mail address for payments; the account's applies when omitted."),
  ),
  status: Type.Optional(Type.Unsafe<(typeof statuses)[number]>({ ...status, default: 'pending' })),
  notes: Type.Optional(notes),
  affiliate_id: Type.Optional(Type.Unknown({ description: 'Not to be sent: the service chooses it.' })),
  id: Type.Optional(Type.Unknown({ description: 'Not to be sent: the service chooses it.' })),
})

export type CreateArguments = Static<typeof createArguments>

export const editArguments = Type.Object({
  ...itemArguments,
  account_email: Type.Optional(email('New e-mail address of the linked account; must be unique.')),
  payment_email: Type.Optional(optionalEmail('New e-mail address for payments; empty unsets it.')),
  rate: Type.Optional(rate('New rate; empty unsets it, so that the default applies.')),
  rate_type: Type.Optional(rateType('New rate type; empty unsets it, so that the default applies.')),
  status: Type.Optional(choice(statuses, 'New status.')),
  notes: Type.Optional(notes),
})

export type EditArguments = Static<typeof editArguments>

/** What a list can be narrowed by. */
export const filterArguments = {
  search: Type.Optional(
    line(
      254,
      'An identifier, an e-mail address (of the account or for payments), or a part of the login, e-mail or display name.',
    ),
  ),
  affiliate_id: Type.Optional(identifiers('Only these affiliates.')),
  exclude: Type.Optional(identifiers('Not these affiliates.')),
  user_id: Type.Optional(identifiers('Only the affiliates of these accounts.')),
  status: Type.Optional(listOf(choice(statuses), 'Only these statuses.')),
  rate_type: Type.Optional(listOf(line(100), 'Only these rate types.')),
  payment_email: Type.Optional(listOf(line(254), 'Only these e-mail addresses for payments.')),
  date: Type.Optional(
    span('When the affiliate was registered: a day, or date[start] and date[end], inclusive.'),
  ),
  updated_since: Type.Optional(since('Only what was created or changed at this time or later.')),
}

const filters = Type.Object(filterArguments)
export type FilterArguments = Static<typeof filters>

/** What only the administration area shows. */
export const affiliateNotes = Type.Object({ notes: Type.String() })

const count = (description: string) => Type.Integer({ description })

/** How many affiliates there are among those that a list is narrowed to. */
export const affiliateTotals = Type.Object({
  count: count('All of them.'),
  by_status: Type.Object(
    Object.fromEntries(statuses.map(name => [name, count(`Those that are ${name}.`)])) as Record<
      (typeof statuses)[number],
      ReturnType<typeof count>
    >,
  ),
})

export type AffiliateTotals = Static<typeof affiliateTotals>

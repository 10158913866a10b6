/** Arguments and record parts beyond the fields: the linked account, effective values, totals. */
import { type Static, Type } from 'typebox'
import { linkedAccount } from '../../accounts/users/extra.ts'
import { MAX_LOGIN_LENGTH } from '../../accounts/users/schema.ts'
import { byName } from '../../base/by-name.ts'
import { email, flag, line } from '../../base/schemas.ts'
import { refusedIdentifiers } from '../../records/crud.ts'
import { affiliate, statuses } from './affiliate.ts'

/** Added by `user=1` and `effective=1`. */
const extras = Type.Object({
  user: Type.Optional(Type.Object(linkedAccount, { description: 'The linked account; only with user=1.' })),
  effective: Type.Optional(
    Type.Object(
      { rate: Type.String(), rate_type: Type.String(), payment_email: Type.String() },
      {
        description:
          'The values that apply unless a rule says otherwise, their own or the default; only with effective=1.',
      },
    ),
  ),
  group: Type.Optional(
    Type.Object(
      { group_id: Type.Integer(), name: Type.String() },
      {
        description:
          'The group that the affiliate belongs to, with 0 and empty text if there is none; only with group=1.',
      },
    ),
  ),
})

export type AffiliateExtras = Static<typeof extras>
export const recordWithExtras = Type.Object(
  { ...affiliate.record.properties, ...extras.properties },
  { title: 'AffiliateWithExtras' },
)

export const extrasArguments = {
  user: Type.Optional(flag('Adds the linked account to the record.')),
  effective: Type.Optional(
    flag(
      "Adds the rate, rate type and e-mail address for payments that apply, the affiliate's own or the default.",
    ),
  ),
  group: Type.Optional(flag('Adds the group that the affiliate belongs to.')),
}

export const createArguments = Type.Object({
  ...affiliate.create.properties,
  ...refusedIdentifiers(affiliate),
  create_user: Type.Optional(
    flag('Creates an account with payment_email, which is then required and must be unique.'),
  ),
  username: Type.Optional(
    line(
      MAX_LOGIN_LENGTH,
      'Login name of the new account: letters, digits, space and _.-@. Derived from payment_email when omitted.',
    ),
  ),
})

export type CreateArguments = Static<typeof createArguments>

export const editArguments = Type.Object({
  ...affiliate.edit.properties,
  account_email: Type.Optional(email('New e-mail address of the linked account; must be unique.')),
})

export type EditArguments = Static<typeof editArguments>

/** For the administration area only. */
export const affiliateNotes = Type.Object({ notes: Type.String() })

const count = (description: string) => Type.Integer({ description })

/** Number of affiliates in a list, by status. */
export const affiliateTotals = Type.Object({
  count: count('Number of affiliates.'),
  by_status: Type.Object(byName(statuses, name => count(`Number of affiliates who are ${name}.`))),
})

export type AffiliateTotals = Static<typeof affiliateTotals>

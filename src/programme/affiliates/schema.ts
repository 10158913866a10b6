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
          'The own value, else the default, by which they earn where no rule says otherwise; only with effective=1.',
      },
    ),
  ),
  group: Type.Optional(
    Type.Object(
      { group_id: Type.Integer(), name: Type.String() },
      {
        description: 'The group that the affiliate belongs to, 0 and empty when to none; only with group=1.',
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
    flag('Adds the rate, rate type and payment e-mail address that apply, defaults included.'),
  ),
  group: Type.Optional(flag('Adds the group that the affiliate belongs to.')),
}

export const createArguments = Type.Object({
  ...affiliate.create.properties,
  ...refusedIdentifiers(affiliate),
  create_user: Type.Optional(
    flag('Makes a new account out of payment_email, which then is required and must be unique.'),
  ),
  username: Type.Optional(
    line(
      MAX_LOGIN_LENGTH,
      'Login name of the new account: letters, digits, space and _.-@. Made from payment_email when omitted.',
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
  count: count('All of them.'),
  by_status: Type.Object(byName(statuses, name => count(`Those that are ${name}.`))),
})

export type AffiliateTotals = Static<typeof affiliateTotals>

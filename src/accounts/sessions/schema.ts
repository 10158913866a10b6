import { type Static, Type } from 'typebox'
import { line } from '../../base/schemas.ts'
import { settingsRecord } from '../../settings/schema.ts'

const password = (description: string) => line(1000, description)

export const loginArguments = Type.Object({
  login: line(254, 'Login name or e-mail address, in any case of letters.'),
  password: password('Password.'),
})

export type LoginArguments = Static<typeof loginArguments>

export const passwordArguments = Type.Object({
  current_password: password('The password that the account has now.'),
  new_password: password('The new one, of 8 characters or more.'),
})

export type PasswordArguments = Static<typeof passwordArguments>

const { properties: setting } = settingsRecord

/** Who is logged in, until when, and what the pages need to know before anything else. */
export const sessionRecord = Type.Object({
  user: Type.Object({
    id: Type.Integer(),
    login: Type.String(),
    email: Type.String(),
    display_name: Type.String(),
  }),
  expires: Type.String({ description: 'When the session ends if it is not used: YYYY-MM-DD HH:MM:SS, UTC.' }),
  settings: Type.Optional(
    Type.Object({
      currency: setting.currency,
      decimals: setting.decimals,
      rate_types: setting.rate_types,
      default_rate: setting.default_rate,
      default_rate_type: setting.default_rate_type,
    }),
  ),
  permissions: Type.Optional(
    Type.Array(Type.String(), { description: 'Every permission that an API key can have.' }),
  ),
  version: Type.Optional(Type.String()),
})

export type SessionRecord = Static<typeof sessionRecord>

import { type Static, Type } from 'typebox'
import { identifier, line, secret } from '../../base/schemas.ts'
import { settingsRecord } from '../../settings/schema.ts'

const password = (description: string) => secret(1000, description)

export const loginArguments = Type.Object({
  login: line(254, 'Login name or e-mail address, ignoring case.'),
  password: password('Password.'),
  code: Type.Optional(
    secret(40, 'Code of the second factor, or a recovery code, if the account has a second factor.'),
  ),
})

export type LoginArguments = Static<typeof loginArguments>

export const passwordArguments = Type.Object({
  current_password: password('Current password of the account.'),
  new_password: password('New password, of 8 characters or more.'),
})

export type PasswordArguments = Static<typeof passwordArguments>

export const sessionItem = { session_id: identifier('Identifier of the session.') }

/** One of the user's own sessions. */
export const openSession = Type.Object({
  id: Type.Integer({ description: 'Identifier of the session.' }),
  current: Type.Boolean({ description: 'Whether it is the session of this request.' }),
  browser: Type.String({ description: 'Browser and operating system with which it was started.' }),
  network: Type.String({
    description: 'Network from which it was started: the first 24 bits of the IP address, or 48 for IPv6.',
  }),
  started: Type.String({ description: 'When it was started: YYYY-MM-DD HH:MM:SS, UTC.' }),
  last_used: Type.String({ description: 'When it was last used, to the minute.' }),
})
export type OpenSession = Static<typeof openSession>

const { properties: setting } = settingsRecord

/** The user, the expiry of the session, and settings that every page needs. */
export const sessionRecord = Type.Object({
  user: Type.Object({
    id: Type.Integer(),
    login: Type.String(),
    email: Type.String(),
    display_name: Type.String(),
    role: Type.String(),
  }),
  expires: Type.String({
    description: 'When the session expires if it is not used: YYYY-MM-DD HH:MM:SS, UTC.',
  }),
  settings: Type.Optional(
    Type.Object({
      currency: setting.currency,
      decimals: setting.decimals,
      rate_types: setting.rate_types,
      default_rate: setting.default_rate,
      default_rate_type: setting.default_rate_type,
      programme_page: setting.programme_page,
      visitor_url: setting.visitor_url,
      allowed_hosts: setting.allowed_hosts,
      approval: setting.approval,
    }),
  ),
  granted: Type.Optional(
    Type.Array(Type.String(), { description: 'All permissions that this session has.' }),
  ),
  permissions: Type.Optional(
    Type.Array(Type.String(), { description: 'All permissions that an API key can have.' }),
  ),
  version: Type.Optional(Type.String()),
})

export type SessionRecord = Static<typeof sessionRecord>

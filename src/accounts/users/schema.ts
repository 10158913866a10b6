import { type Static, Type } from 'typebox'
import { choice, email, identifier, identifiers, line, listOf, secret } from '../../base/schemas.ts'
import { roles } from './roles.ts'

export const MAX_LOGIN_LENGTH = 60
const ROLE =
  'Role: administrator for everything; manager for all but accounts, API keys and settings; bookkeeper for payouts, payout runs and reading; reader for reading; empty for no role.'

const name = (description: string) => Type.Optional(line(250, description))
const role = Type.Optional(choice([...roles, ''], ROLE))
const password = (description: string) => Type.Optional(secret(1000, description))

export const userArguments = Type.Object({
  login: line(MAX_LOGIN_LENGTH, 'Login name: letters, digits, space and _.-@'),
  email: email('E-mail address.'),
  first_name: name('First name.'),
  last_name: name('Last name.'),
  display_name: name('Display name; when omitted, the first and last name, or else the login name.'),
  role,
  password: password('Password of 8 characters or more; without one the account cannot log in.'),
})

export type UserArguments = Static<typeof userArguments>

/** Record of the user endpoints; its fields in this order. */
export const userRecord = Type.Object({
  id: Type.Integer({ description: 'Identifier of the account.' }),
  login: Type.String({ description: 'Login name.' }),
  email: Type.String({ description: 'E-mail address.' }),
  first_name: Type.String({ description: 'First name; may be empty.' }),
  last_name: Type.String({ description: 'Last name; may be empty.' }),
  display_name: Type.String({ description: 'Display name.' }),
  role: choice([...roles, ''], ROLE),
  affiliate_id: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The affiliate who is linked to the account, or null.',
  }),
  date_registered: Type.String({ description: 'When the account was created: YYYY-MM-DD HH:MM:SS, UTC.' }),
  can_log_in: Type.Boolean({ description: 'Whether the account can log in to the administration area.' }),
  second_factor: Type.Boolean({ description: 'Whether logging in asks for the code of a second factor.' }),
})

export type UserRecord = Static<typeof userRecord>

export const itemArguments = { user_id: identifier('Identifier of the account.') }

export const editArguments = Type.Object({
  ...itemArguments,
  email: Type.Optional(email('New e-mail address; must be unique.')),
  first_name: name('New first name.'),
  last_name: name('New last name.'),
  display_name: name('New display name; empty for the first and last name, or else the login name.'),
  role,
  password: password('New password; ends the sessions of the account.'),
})

export type EditArguments = Static<typeof editArguments>

/** List filters. */
export const filterArguments = {
  search: Type.Optional(
    line(
      254,
      'An identifier, or words or parts of words of the login name, e-mail address or display name, in any order.',
    ),
  ),
  user_id: Type.Optional(identifiers('Only accounts with one of these identifiers.')),
  exclude: Type.Optional(identifiers('Leaves out accounts with one of these identifiers.')),
  login: Type.Optional(
    listOf(line(MAX_LOGIN_LENGTH), 'Only accounts with one of these login names, ignoring case.'),
  ),
  role: Type.Optional(listOf(choice([...roles, '']), 'Only accounts with one of these roles.')),
}

const filters = Type.Object(filterArguments)
export type FilterArguments = Static<typeof filters>

import { type Static, Type } from 'typebox'
import { choice, email, identifier, identifiers, line, listOf, secret } from '../../base/schemas.ts'
import { roles } from './roles.ts'

export const MAX_LOGIN_LENGTH = 60
const ROLE =
  'administrator; manager: all but accounts, keys and settings; bookkeeper: payouts, payout runs, and reading; reader: reading; or empty for none.'

const name = (description: string) => Type.Optional(line(250, description))
const role = Type.Optional(choice([...roles, ''], ROLE))
const password = (description: string) => Type.Optional(secret(1000, description))

export const userArguments = Type.Object({
  login: line(MAX_LOGIN_LENGTH, 'Login name: letters, digits, space and _.-@'),
  email: email('E-mail address.'),
  first_name: name('First name.'),
  last_name: name('Last name.'),
  display_name: name('The name to show; when omitted the first and last name, else the login.'),
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
  display_name: Type.String({ description: 'The name to show.' }),
  role: choice([...roles, ''], ROLE),
  affiliate_id: Type.Union([Type.Integer(), Type.Null()], {
    description: 'The affiliate that the account is, or null.',
  }),
  date_registered: Type.String({ description: 'When the account was made: YYYY-MM-DD HH:MM:SS, UTC.' }),
  can_log_in: Type.Boolean({ description: 'Whether it may log in to the administration area.' }),
  second_factor: Type.Boolean({ description: 'Whether logging in asks for a code as well.' }),
})

export type UserRecord = Static<typeof userRecord>

export const itemArguments = { user_id: identifier('Identifier of the account.') }

export const editArguments = Type.Object({
  ...itemArguments,
  email: Type.Optional(email('New e-mail address; must be unique.')),
  first_name: name('New first name.'),
  last_name: name('New last name.'),
  display_name: name('New name to show; empty for the first and last name, else the login.'),
  role,
  password: password('New password; ends the sessions of the account.'),
})

export type EditArguments = Static<typeof editArguments>

/** List filters. */
export const filterArguments = {
  search: Type.Optional(
    line(
      254,
      'An identifier, or words of the login, e-mail or display name, each or a part of it, in any order.',
    ),
  ),
  user_id: Type.Optional(identifiers('Only these accounts.')),
  exclude: Type.Optional(identifiers('All but these accounts.')),
  login: Type.Optional(
    listOf(line(MAX_LOGIN_LENGTH), 'Only the accounts with these login names, in any case.'),
  ),
  role: Type.Optional(listOf(choice([...roles, '']), 'Only these roles.')),
}

const filters = Type.Object(filterArguments)
export type FilterArguments = Static<typeof filters>

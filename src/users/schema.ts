import { type Static, Type } from 'typebox'
import { choice, email, line } from '../fields.ts'

export const MAX_LOGIN_LENGTH = 60
export const roles = ['administrator', ''] as const

const name = (description: string) => Type.Optional(line(250, description))

export const userArguments = Type.Object({
  login: line(MAX_LOGIN_LENGTH, 'Login name: letters, digits, space and _.-@'),
  email: email('E-mail address.'),
  first_name: name('First name.'),
  last_name: name('Last name.'),
  display_name: name('The name to show; when omitted the first and last name, else the login.'),
  role: Type.Optional(choice(roles, 'administrator, or empty for none.')),
})

export type UserArguments = Static<typeof userArguments>

import { type Static, Type } from 'typebox'
import { line, secret } from '../../base/schemas.ts'

export const askArguments = Type.Object({
  login: line(254, 'Login name or e-mail address, ignoring case.'),
})

export const newPasswordArguments = Type.Object({
  token: secret(100, 'Token from the link in the e-mail.'),
  new_password: secret(1000, 'New password, of 8 characters or more.'),
})
export type NewPasswordArguments = Static<typeof newPasswordArguments>

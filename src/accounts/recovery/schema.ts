import { type Static, Type } from 'typebox'
import { line, secret } from '../../base/schemas.ts'

export const askArguments = Type.Object({
  login: line(254, 'Login name or e-mail address, in any case of letters.'),
})

export const newPasswordArguments = Type.Object({
  token: secret(100, 'What the link in the e-mail holds.'),
  new_password: secret(1000, 'The new password, of 8 characters or more.'),
})
export type NewPasswordArguments = Static<typeof newPasswordArguments>

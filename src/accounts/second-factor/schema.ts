import { type Static, Type } from 'typebox'
import { secret } from '../../base/schemas.ts'

export const passwordArguments = Type.Object({
  current_password: secret(1000, 'The password that the account has now.'),
})
export type PasswordArguments = Static<typeof passwordArguments>

export const codeArguments = Type.Object({ code: secret(40, 'The code that the app shows at this moment.') })
export type CodeArguments = Static<typeof codeArguments>

export const factorRecord = Type.Object({
  active: Type.Boolean({ description: 'Whether logging in asks for a code.' }),
  since: Type.Union([Type.String(), Type.Null()], {
    description: 'Since when: YYYY-MM-DD HH:MM:SS, UTC; null when it is not active.',
  }),
  recovery_codes: Type.Integer({ description: 'How many recovery codes are left.' }),
})
export type FactorRecord = Static<typeof factorRecord>

/** The secret for the app, which is never shown again. */
export const secretRecord = Type.Object({
  secret: Type.String({ description: 'What the app makes codes of, to be typed into it.' }),
  uri: Type.String({ description: 'The same to be scanned as a QR code.' }),
})

export const codesRecord = Type.Object({
  recovery_codes: Type.Array(Type.String(), {
    description: 'Each stands in for a code of the app, once. They cannot be shown again.',
  }),
})

import { type Static, Type } from 'typebox'
import { secret } from '../../base/schemas.ts'

export const passwordArguments = Type.Object({
  current_password: secret(1000, 'Current password of the account.'),
})
export type PasswordArguments = Static<typeof passwordArguments>

export const codeArguments = Type.Object({ code: secret(40, 'Code that the app shows now.') })
export type CodeArguments = Static<typeof codeArguments>

export const factorRecord = Type.Object({
  active: Type.Boolean({ description: 'Whether logging in asks for a code.' }),
  since: Type.Union([Type.String(), Type.Null()], {
    description: 'When it was set up: YYYY-MM-DD HH:MM:SS, UTC; null if it is not active.',
  }),
  recovery_codes: Type.Integer({ description: 'Number of recovery codes that are left.' }),
})
export type FactorRecord = Static<typeof factorRecord>

/** The secret for the app, which is never shown again. */
export const secretRecord = Type.Object({
  secret: Type.String({ description: 'Secret from which the app generates codes, to be typed in.' }),
  uri: Type.String({ description: 'The same as a URI, to be scanned as a QR code.' }),
})

export const codesRecord = Type.Object({
  recovery_codes: Type.Array(Type.String(), {
    description: 'Each replaces a code of the app once. They cannot be shown again.',
  }),
})

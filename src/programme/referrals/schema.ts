import { type Static, Type } from 'typebox'
import { identifier, line } from '../../base/schemas.ts'
import { refusedIdentifiers } from '../../records/crud.ts'
import { referral } from './referral.ts'

export const createArguments = Type.Object({
  ...referral.create.properties,
  ...refusedIdentifiers(referral),
  user_id: Type.Optional(identifier("Identifier of the affiliate's account, instead of affiliate_id.")),
  user_name: Type.Optional(line(60, "Login name of the affiliate's account, instead of affiliate_id.")),
})

export type CreateArguments = Static<typeof createArguments>
export type EditArguments = Static<typeof referral.edit>

import { type Static, Type } from 'typebox'
import { choice, identifier, identifiers, line, listOf, since } from '../../base/schemas.ts'

export const statuses = ['active', 'expired', 'revoked'] as const

export const keyArguments = Type.Object({
  name: line(100, 'What the key is for.'),
  permissions: listOf(line(100), 'What the key may do, such as affiliates.read.'),
  expires: Type.Optional(since('Last day on which the key works.')),
})

export type KeyArguments = Static<typeof keyArguments>

export const createArguments = Type.Object({
  ...keyArguments.properties,
  user_id: identifier('The account that owns the key.'),
})

export type CreateArguments = Static<typeof createArguments>

const moment = (description: string) =>
  Type.Union([Type.String(), Type.Null()], {
    description: `${description} YYYY-MM-DD HH:MM:SS, UTC, or null.`,
  })

/** Record of the key endpoints; its fields in this order. */
export const keyRecord = Type.Object({
  id: Type.Integer({ description: 'Identifier of the key.' }),
  public_key: Type.String({ description: 'Public part of the key, which never changes.' }),
  name: Type.String({ description: 'What the key is for.' }),
  owner: Type.Object(
    { id: Type.Integer(), login: Type.String() },
    { description: 'The account that owns the key.' },
  ),
  permissions: Type.Array(Type.String(), { description: 'What the key may do.' }),
  status: choice(statuses, 'Whether the key works, has expired, or is revoked.'),
  date_created: Type.String({ description: 'When the key was created: YYYY-MM-DD HH:MM:SS, UTC.' }),
  last_used: moment('When the key was last used, to the minute:'),
  expires: moment('Last second at which the key works:'),
  revoked: moment('When the key was revoked:'),
})

export type KeyRecord = Static<typeof keyRecord>

/** With the token, which is shown once. */
export const newKeyRecord = Type.Object({
  ...keyRecord.properties,
  token: Type.String({ description: 'Secret part of the key. It cannot be shown again.' }),
})

export const itemArguments = { key_id: identifier('Identifier of the key.') }

/** The filters of a list. */
export const filterArguments = {
  search: Type.Optional(line(254, 'Words or parts of words of the name or the public key, in any order.')),
  user_id: Type.Optional(identifiers('Only keys of one of these accounts.')),
}

const filters = Type.Object(filterArguments)
export type FilterArguments = Static<typeof filters>

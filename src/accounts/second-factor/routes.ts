import { Type } from 'typebox'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { renderer } from '../../http/render.ts'
import { getUser } from '../users/rules.ts'
import { itemArguments, type UserRecord, userRecord } from '../users/schema.ts'
import * as rules from './rules.ts'
import {
  codeArguments,
  codesRecord,
  type FactorRecord,
  factorRecord,
  passwordArguments,
  secretRecord,
} from './schema.ts'

const render = renderer<FactorRecord>(factorRecord)
const renderUser = renderer<UserRecord>(userRecord)
const path = '/second-factor'
const codesOf = (recovery_codes: string[]) =>
  ({ status: 201, body: JSON.stringify({ recovery_codes }) }) as const

/** The user's own second factor. */
export const secondFactor: readonly Endpoint[] = [
  endpoint({
    methods: ['GET'],
    path,
    permission: 'session.read',
    summary: 'Get the state of the second factor',
    arguments: Type.Object({}),
    answer: { status: 200, schema: factorRecord },
    handle: async call => ({ status: 200, body: render(await rules.stateOf(call)) }),
  }),
  endpoint({
    methods: ['POST'],
    path,
    permission: 'session.edit',
    summary: 'Begin to set up a second factor',
    arguments: passwordArguments,
    answer: { status: 201, schema: secretRecord },
    failures: ['second_factor_active', 'secret_key'],
    handle: async (call, args) => ({ status: 201, body: JSON.stringify(await rules.begin(call, args)) }),
  }),
  endpoint({
    methods: ['POST'],
    path: `${path}/confirmation`,
    permission: 'session.edit',
    summary: 'Confirm the second factor with a first code',
    arguments: codeArguments,
    answer: { status: 201, schema: codesRecord },
    failures: ['no_second_factor', 'second_factor_active', 'secret_key'],
    handle: async (call, args) => codesOf(await rules.confirm(call, args)),
  }),
  endpoint({
    methods: ['POST'],
    path: `${path}/recovery-codes`,
    permission: 'session.edit',
    summary: 'Get new recovery codes',
    arguments: passwordArguments,
    answer: { status: 201, schema: codesRecord },
    failures: ['no_second_factor'],
    handle: async (call, args) => codesOf(await rules.renewCodes(call, args)),
  }),
  endpoint({
    methods: ['POST'],
    path: `${path}/removal`,
    permission: 'session.edit',
    summary: 'Remove the second factor',
    arguments: passwordArguments,
    answer: { status: 200, schema: factorRecord },
    handle: async (call, args) => {
      await rules.end(call, args)
      return { status: 200, body: render(await rules.stateOf(call)) }
    },
  }),
]

/** The second factor of another account, for administrators. */
export const resetSecondFactor: Endpoint = endpoint({
  methods: ['DELETE'],
  path: '/users/{user_id}/second-factor',
  permission: 'users.edit',
  summary: 'Remove the second factor of an account',
  arguments: Type.Object(itemArguments),
  answer: { status: 200, schema: userRecord },
  failures: ['no_user'],
  handle: async (call, { user_id }) => {
    await rules.reset(call, user_id)
    return { status: 200, body: renderUser(await getUser(call, user_id)) }
  },
})

import { Type } from 'typebox'
import { createdAnswer, type Endpoint, endpoint, type Resource } from '../../http/endpoint.ts'
import {
  answerList,
  type ListArguments,
  type Listing,
  listAnswer,
  listArguments,
  writerOf,
} from '../../http/list.ts'
import { renderer } from '../../http/render.ts'
import type { KeyRing } from '../keys/rules.ts'
import * as rules from './rules.ts'
import {
  editArguments,
  type FilterArguments,
  filterArguments,
  itemArguments,
  type UserRecord,
  userArguments,
  userRecord,
} from './schema.ts'
import { orders, type UserRow } from './store.ts'

const accountName = Type.Object({ name: Type.String({ description: 'Display name.' }) })
const render = renderer<UserRecord>(userRecord)
const fields = Object.keys(userRecord.properties)

const listing: Listing<UserRow, ListArguments & FilterArguments> = {
  orders,
  fields,
  page: rules.listUsers,
  count: rules.countUsers,
  identifier: row => row.id,
  writer: async () => writerOf(rules.recordOf, render),
}

const name: Endpoint = endpoint({
  methods: ['GET'],
  path: '/users/{user_id}/name',
  // Who reads what was done reads who has done it.
  permission: 'audit.read',
  summary: 'Get the name of an account',
  arguments: Type.Object(itemArguments),
  answer: { status: 200, schema: accountName },
  failures: ['no_user'],
  handle: async (call, { user_id }) => {
    const { login, display_name } = await rules.getUser(call, user_id)
    return { status: 200, body: JSON.stringify({ name: display_name || login }) }
  },
})

/**
 * Accounts, managed in the administration area.
 * @param ring this process's cache of keys
 * @param more further endpoints of accounts
 */
export const users = (ring: KeyRing, more: readonly Endpoint[]): Resource => ({
  name: 'users',
  title: 'Users',
  record: userRecord,
  missing: 'no_user',
  endpoints: [
    endpoint({
      methods: ['GET'],
      path: '/users',
      permission: 'users.read',
      summary: 'List accounts',
      arguments: listArguments(fields, Object.keys(orders), filterArguments),
      answer: listAnswer(userRecord),
      handle: (call, args) => answerList(call, args, listing),
    }),
    endpoint({
      methods: ['POST'],
      path: '/users',
      permission: 'users.create',
      summary: 'Create an account',
      arguments: userArguments,
      answer: createdAnswer(userRecord),
      failures: ['email_taken', 'login_taken'],
      check: (_call, args) => rules.problemsOfUser(args),
      handle: async (call, args) => {
        const user = await rules.createUser(call, args)
        return {
          status: 201,
          headers: { Location: `${call.collectionUrl}/${user.id}` },
          body: render(rules.recordOf({ ...user, ...rules.fresh })),
        }
      },
    }),
    endpoint({
      methods: ['GET'],
      path: '/users/{user_id}',
      permission: 'users.read',
      summary: 'Get an account',
      arguments: Type.Object(itemArguments),
      answer: { status: 200, schema: userRecord },
      failures: ['no_user'],
      handle: async (call, { user_id }) => ({
        status: 200,
        body: render(await rules.getUser(call, user_id)),
      }),
    }),
    name,
    endpoint({
      methods: ['PATCH', 'POST'],
      path: '/users/{user_id}',
      permission: 'users.edit',
      summary: 'Edit an account',
      arguments: editArguments,
      answer: { status: 200, schema: userRecord },
      failures: ['no_user', 'email_taken', 'last_administrator'],
      check: rules.problemsOfEdit,
      prepare: rules.hashOfEdit,
      handle: async (call, args, passwordHash) => ({
        status: 200,
        body: render((await afterEdit(ring, rules.editUser(call, args, passwordHash))).record),
      }),
    }),
    ...more,
  ],
})

/** A changed role takes effect on the account's keys at once. */
async function afterEdit<T>(ring: KeyRing, edit: Promise<T>): Promise<T> {
  const edited = await edit
  ring.forget()
  return edited
}

import { Type } from 'typebox'
import { endpoint, type Resource } from '../../http/endpoint.ts'
import {
  answerList,
  type ListArguments,
  type Listing,
  listAnswer,
  listArguments,
  writerOf,
} from '../../http/list.ts'
import { renderer } from '../../http/render.ts'
import * as rules from './rules.ts'
import {
  createArguments,
  type FilterArguments,
  filterArguments,
  itemArguments,
  type KeyRecord,
  keyRecord,
  newKeyRecord,
} from './schema.ts'
import { type KeyRow, orders } from './store.ts'

const render = renderer<KeyRecord>(keyRecord)
const renderNew = renderer<KeyRecord & { token: string }>(newKeyRecord)
const fields = Object.keys(keyRecord.properties)

const listing: Listing<KeyRow, ListArguments & FilterArguments> = {
  orders,
  fields,
  page: rules.listKeys,
  count: rules.countKeys,
  identifier: row => row.id,
  writer: async () => writerOf(rules.recordOf, render),
}

/**
 * API keys, managed in the administration area.
 * @param allPermissions every permission there is
 * @param ring this process's cache of keys
 */
export const keys = (allPermissions: readonly string[], ring: rules.KeyRing): Resource => ({
  name: 'keys',
  title: 'API keys',
  record: keyRecord,
  missing: 'no_key',
  endpoints: [
    endpoint({
      methods: ['GET'],
      path: '/keys',
      permission: 'keys.read',
      summary: 'List API keys',
      arguments: listArguments(fields, Object.keys(orders), filterArguments),
      answer: listAnswer(keyRecord),
      handle: (call, args) => answerList(call, args, listing),
    }),
    endpoint({
      methods: ['POST'],
      path: '/keys',
      permission: 'keys.create',
      summary: 'Generate an API key',
      arguments: createArguments,
      answer: { status: 201, schema: newKeyRecord },
      check: async (_call, args) => rules.problemsOfKey(args, allPermissions),
      handle: async (call, args) => {
        const { key, token } = await rules.createKey(call, args, allPermissions)
        return { status: 201, body: renderNew({ ...rules.recordOf(key), token }) }
      },
    }),
    endpoint({
      methods: ['DELETE'],
      path: '/keys/{key_id}',
      permission: 'keys.delete',
      summary: 'Revoke an API key for good',
      arguments: Type.Object(itemArguments),
      answer: { status: 200, schema: keyRecord },
      failures: ['no_key'],
      handle: async (call, { key_id }) => {
        const key = await rules.revokeKey(call, key_id)
        ring.forget()
        return { status: 200, body: render(rules.recordOf(key)) }
      },
    }),
  ],
})

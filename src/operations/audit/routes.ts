import { Type } from 'typebox'
import { type EntryRow, orders } from '../../events/store.ts'
import { endpoint, type Resource } from '../../http/endpoint.ts'
import { answerList, type ListArguments, type Listing, listArguments, writerOf } from '../../records/list.ts'
import { renderer } from '../../records/render.ts'
import * as rules from './rules.ts'
import { type EntryRecord, entryRecord, type FilterArguments, filterArguments } from './schema.ts'

const fields = Object.keys(entryRecord.properties)

const listing: Listing<EntryRow, ListArguments & FilterArguments> = {
  orders,
  fields,
  page: rules.listEntries,
  count: rules.countEntries,
  identifier: row => row.id,
  writer: async () => writerOf(rules.recordOf, renderer<EntryRecord>(entryRecord)),
}

/** The audit log is read in the administration area, and written by whatever it tells of. */
export const audit: Resource = {
  name: 'audit',
  title: 'Audit log',
  record: entryRecord,
  missing: 'no_route',
  endpoints: [
    endpoint({
      methods: ['GET'],
      path: '/audit',
      permission: 'audit.read',
      summary: 'List the entries of the audit log',
      arguments: listArguments(fields, Object.keys(orders), filterArguments),
      answer: { status: 200, schema: Type.Array(entryRecord) },
      handle: (call, args) => answerList(call, args, listing),
    }),
  ],
}

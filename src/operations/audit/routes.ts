import { type EntryRow, orders } from '../../events/store.ts'
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
import type { Schema } from '../../storage/table.ts'
import * as rules from './rules.ts'
import { auditSchemas, type EntryRecord, type FilterArguments } from './schema.ts'

/** The audit log is read in the administration area; every write adds to it. */
export function audit(schema: Schema): Resource {
  const { record, filters } = auditSchemas(schema)
  const fields = Object.keys(record.properties)
  const render = renderer<EntryRecord>(record)
  const listing: Listing<EntryRow, ListArguments & FilterArguments> = {
    orders,
    fields,
    page: rules.listEntries,
    count: rules.countEntries,
    identifier: row => row.id,
    writer: async () => writerOf(rules.recordOf, render),
  }
  return {
    name: 'audit',
    title: 'Audit log',
    record,
    missing: 'no_route',
    endpoints: [
      endpoint({
        methods: ['GET'],
        path: '/audit',
        permission: 'audit.read',
        summary: 'List the entries of the audit log',
        arguments: listArguments(fields, Object.keys(orders), filters),
        answer: listAnswer(record),
        failures: ['forbidden'],
        handle: (call, args) => answerList(call, args, listing),
      }),
    ],
  }
}

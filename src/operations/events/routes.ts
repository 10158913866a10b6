import { Type } from 'typebox'
import { endpoint, type Resource } from '../../http/endpoint.ts'
import { nextLink } from '../../http/list.ts'
import { renderer } from '../../http/render.ts'
import type { Schema } from '../../storage/table.ts'
import * as rules from './rules.ts'
import { type EventRecord, eventSchemas } from './schema.ts'

export function events(schema: Schema): Resource {
  const { record, arguments: args } = eventSchemas(schema)
  const render = renderer<EventRecord>(record)
  return {
    name: 'events',
    title: 'Events',
    record,
    missing: 'no_route',
    endpoints: [
      endpoint({
        methods: ['GET'],
        path: '/events',
        permission: 'events.read',
        summary: 'List events in the order of the log, after a position',
        arguments: args,
        answer: { status: 200, schema: Type.Array(record), headers: ['Link'] },
        handle: async (call, args) => {
          const { events, next } = await rules.listEvents(call, args)
          return {
            status: 200,
            body: `[${events.map(render).join(',')}]`,
            ...(next !== undefined && { headers: { Link: nextLink(call, 'after', String(next)) } }),
          }
        },
      }),
    ],
  }
}

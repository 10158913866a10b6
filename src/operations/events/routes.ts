import { Type } from 'typebox'
import { endpoint, type Resource } from '../../http/endpoint.ts'
import { linkTo } from '../../records/list.ts'
import { renderer } from '../../records/render.ts'
import * as rules from './rules.ts'
import { type EventRecord, eventRecord, listArguments } from './schema.ts'

const render = renderer<EventRecord>(eventRecord)

export const events: Resource = {
  name: 'events',
  title: 'Events',
  record: eventRecord,
  missing: 'no_route',
  endpoints: [
    endpoint({
      methods: ['GET'],
      path: '/events',
      permission: 'events.read',
      summary: 'Follow what happens: events in the order of the log, behind a position',
      arguments: listArguments,
      answer: { status: 200, schema: Type.Array(eventRecord) },
      handle: async (call, args) => {
        const { events, next } = await rules.listEvents(call, args)
        return {
          status: 200,
          body: `[${events.map(render).join(',')}]`,
          ...(next !== undefined && { headers: { Link: linkTo(call, 'after', String(next)) } }),
        }
      },
    }),
  ],
}

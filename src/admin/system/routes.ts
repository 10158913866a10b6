import { Type } from 'typebox'
import { endpoint, type Resource } from '../../http/endpoint.ts'
import { SystemReport } from './rules.ts'
import { systemRecord } from './schema.ts'

export const system = (report = new SystemReport()): Resource => ({
  name: 'system',
  title: 'System',
  record: systemRecord,
  missing: 'no_route',
  endpoints: [
    endpoint({
      methods: ['GET'],
      path: '/system',
      permission: 'system.read',
      summary: 'Show the state of the service',
      arguments: Type.Object({}),
      answer: { status: 200, schema: systemRecord },
      handle: async call => ({ status: 200, body: JSON.stringify(await report.read(call)) }),
    }),
  ],
})

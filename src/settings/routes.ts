import { Type } from 'typebox'
import { endpoint, type Resource } from '../http/endpoint.ts'
import { renderer } from '../http/render.ts'
import * as rules from './rules.ts'
import { type SettingsRecord, settingsChanges, settingsRecord } from './schema.ts'

const render = renderer<SettingsRecord>(settingsRecord)

/** Settings are changed in the administration area. */
export const settings: Resource = {
  name: 'settings',
  title: 'Settings',
  record: settingsRecord,
  missing: 'no_route',
  endpoints: [
    endpoint({
      methods: ['GET'],
      path: '/settings',
      permission: 'settings.read',
      summary: 'Show the settings',
      arguments: Type.Object({}),
      answer: { status: 200, schema: settingsRecord },
      handle: async call => ({
        status: 200,
        body: render(await rules.recordOf(call, await rules.loadSettings(call.database.reader))),
      }),
    }),
    endpoint({
      methods: ['PATCH', 'POST'],
      path: '/settings',
      permission: 'settings.edit',
      summary: 'Change settings',
      arguments: settingsChanges,
      answer: { status: 200, schema: settingsRecord },
      check: rules.problems,
      handle: async (call, args) => ({
        status: 200,
        body: render(await rules.recordOf(call, await rules.changeSettings(call, args))),
      }),
    }),
  ],
}

import { Type } from 'typebox'
import { version } from '../../base/package.ts'
import { type Call, endpoint, type Resource } from '../../http/endpoint.ts'
import { renderer } from '../../records/render.ts'
import { settingsRecord } from '../../settings/rules.ts'
import { deviceCookie, readCookie, sessionCookie, setCookie } from './cookie.ts'
import * as rules from './rules.ts'
import { loginArguments, passwordArguments, type SessionRecord, sessionRecord } from './schema.ts'

const render = renderer<SessionRecord>(sessionRecord)

/** @param permissions every permission that an API key can have */
export const sessions = (permissions: readonly string[]): Resource => ({
  name: 'session',
  title: 'Session',
  record: sessionRecord,
  missing: 'no_route',
  endpoints: [
    endpoint({
      methods: ['POST'],
      path: '/session',
      permission: 'session.create',
      summary: 'Log in',
      arguments: loginArguments,
      answer: { status: 201, schema: sessionRecord },
      failures: ['wrong_login', 'too_many_requests'],
      hashes: true,
      handle: async (call, args) => {
        const presented = readCookie(deviceCookie, call.cookies)
        const { token, device, record } = await rules.logIn(call, args, presented)
        const cookies = [
          setCookie(sessionCookie, token, call.secure),
          setCookie(deviceCookie, device, call.secure, rules.DEVICE_SECONDS),
        ]
        return { status: 201, cookies, body: render(record) }
      },
    }),
    endpoint({
      methods: ['GET'],
      path: '/session',
      permission: 'session.read',
      summary: 'Who is logged in',
      arguments: Type.Object({}),
      answer: { status: 200, schema: sessionRecord },
      handle: async call => ({ status: 200, body: render(await describe(call, permissions)) }),
    }),
    endpoint({
      methods: ['DELETE'],
      path: '/session',
      permission: 'session.delete',
      summary: 'Log out',
      arguments: Type.Object({}),
      answer: { status: 200, schema: Type.Object({ ended: Type.Boolean() }) },
      handle: async call => {
        await rules.logOut(call)
        const cookies = [setCookie(sessionCookie, '', call.secure, 0)]
        return { status: 200, cookies, body: '{"ended":true}' }
      },
    }),
    endpoint({
      methods: ['POST'],
      path: '/password',
      permission: 'session.edit',
      summary: 'Change the own password',
      arguments: passwordArguments,
      answer: { status: 200, schema: Type.Object({ changed: Type.Boolean() }) },
      failures: ['too_many_requests'],
      handle: async (call, args) => {
        await rules.changePassword(call, args)
        return { status: 200, body: '{"changed":true}' }
      },
    }),
  ],
})

async function describe(call: Call, permissions: readonly string[]): Promise<SessionRecord> {
  const session = await rules.currentSession(call)
  const settings = settingsRecord(await call.settings.current())
  return { ...session, settings, permissions: [...permissions], version }
}

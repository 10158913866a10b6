import { Type } from 'typebox'
import { version } from '../../base/package.ts'
import { type Call, type Endpoint, endpoint, type Resource } from '../../http/endpoint.ts'
import { renderer } from '../../http/render.ts'
import { settingsRecord } from '../../settings/rules.ts'
import { deviceCookie, readCookie, sessionCookie, setCookie } from './cookie.ts'
import * as rules from './rules.ts'
import {
  loginArguments,
  openSession,
  passwordArguments,
  type SessionRecord,
  sessionItem,
  sessionRecord,
} from './schema.ts'

const refusals = [
  'wrong_login',
  'no_role',
  'second_factor_required',
  'wrong_code',
  'secret_key',
  'too_many_requests',
] as const
const endedAnswer = { status: 200, schema: Type.Object({ ended: Type.Boolean() }) } as const
const render = renderer<SessionRecord>(sessionRecord)

/**
 * @param permissions every permission that an API key can have
 * @param more further endpoints of the user's own account
 */
export const sessions = (permissions: readonly string[], more: readonly Endpoint[]): Resource => ({
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
      failures: refusals,
      hashes: true,
      handle: async (call, args) => {
        const presented = readCookie(deviceCookie, call.cookies)
        const { userAgent } = call
        const { token, device, record } = await rules.logIn(call, args, { presented, userAgent })
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
      summary: 'Get the account that is logged in',
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
      answer: endedAnswer,
      handle: async call => {
        await rules.logOut(call)
        const cookies = [setCookie(sessionCookie, '', call.secure, 0)]
        return { status: 200, cookies, body: '{"ended":true}' }
      },
    }),
    ...ownSessions,
    endpoint({
      methods: ['POST'],
      path: '/password',
      permission: 'session.edit',
      summary: "Change one's own password",
      arguments: passwordArguments,
      answer: { status: 200, schema: Type.Object({ changed: Type.Boolean() }) },
      failures: ['too_many_requests'],
      handle: async (call, args) => {
        await rules.changePassword(call, args)
        return { status: 200, body: '{"changed":true}' }
      },
    }),
    ...more,
  ],
})

async function describe(call: Call, permissions: readonly string[]): Promise<SessionRecord> {
  const session = await rules.currentSession(call)
  const settings = settingsRecord(await call.settings.current())
  return {
    ...session,
    settings,
    granted: [...call.actor.permissions],
    permissions: [...permissions],
    version,
  }
}

/** The user's own sessions, to find and end foreign ones. */
const ownSessions: readonly Endpoint[] = [
  endpoint({
    methods: ['GET'],
    path: '/sessions',
    permission: 'session.read',
    summary: "List one's own sessions",
    arguments: Type.Object({}),
    answer: { status: 200, schema: Type.Array(openSession) },
    handle: async call => ({ status: 200, body: JSON.stringify(await rules.listSessions(call)) }),
  }),
  endpoint({
    methods: ['DELETE'],
    path: '/sessions',
    permission: 'session.delete',
    summary: "End all of one's own sessions except this one",
    arguments: Type.Object({}),
    answer: endedAnswer,
    handle: async call => {
      await rules.endOwnSessions(call)
      return { status: 200, body: '{"ended":true}' }
    },
  }),
  endpoint({
    methods: ['DELETE'],
    path: '/sessions/{session_id}',
    permission: 'session.delete',
    summary: "End one of one's own sessions",
    arguments: Type.Object(sessionItem),
    answer: endedAnswer,
    failures: ['no_session'],
    handle: async (call, { session_id }) => {
      await rules.endOwnSessions(call, session_id)
      return { status: 200, body: '{"ended":true}' }
    },
  }),
]

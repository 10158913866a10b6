import { Type } from 'typebox'
import { type Endpoint, endpoint } from '../../http/endpoint.ts'
import { type Recovery, replacePassword } from './rules.ts'
import { askArguments, newPasswordArguments } from './schema.ts'

/** Endpoints for people who cannot log in. */
export const recoveryEndpoints = (recovery: Recovery): readonly Endpoint[] => [
  endpoint({
    methods: ['POST'],
    path: '/forgotten-password',
    permission: 'session.create',
    summary: 'Request a password reset link by e-mail',
    arguments: askArguments,
    answer: { status: 200, schema: Type.Object({ asked: Type.Boolean() }) },
    handle: async (call, { login }) => {
      await recovery.ask(call, login)
      return { status: 200, body: '{"asked":true}' }
    },
  }),
  endpoint({
    methods: ['POST'],
    path: '/new-password',
    permission: 'session.create',
    summary: 'Set a new password with the link from the e-mail',
    arguments: newPasswordArguments,
    answer: { status: 200, schema: Type.Object({ changed: Type.Boolean() }) },
    failures: ['recovery_ended'],
    hashes: true,
    handle: async (call, args) => {
      await replacePassword(call, args)
      return { status: 200, body: '{"changed":true}' }
    },
  }),
]

import type { FastifyReply, onRequestHookHandler } from 'fastify'
import { Failure } from '../../base/errors.ts'
import type { Load } from '../limits/load.ts'
import { problemOf } from '../problems.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Refused before it was looked at, because there was too much to do. */
    shed: boolean
  }
}

/** Made once: an error for each would cost time when there is none. */
const { status, headers, body } = problemOf(new Failure('overloaded'))

/** 503, before anything else is done for a request that would be answered too late. */
export function shed(load: Load): onRequestHookHandler {
  return (_request, reply, done) => {
    if (load.tooMuch) refuse(reply)
    else done()
  }
}

/** 503, as there is too much to do. */
export function refuse(reply: FastifyReply): void {
  reply.shed = true
  reply.code(status).headers(headers).send(body)
}

import type { FastifyReply, onRequestHookHandler } from 'fastify'
import { Failure } from '../../base/errors.ts'
import type { Load } from '../limits/load.ts'
import { problemOf } from '../problems.ts'

declare module 'fastify' {
  interface FastifyReply {
    /** Refused before processing, because the service is overloaded. */
    shed: boolean
  }
}

/** Built once: an error per refusal would cost time during an overload. */
const { status, headers, body } = problemOf(new Failure('overloaded'))

/** Answers 503 at once to a request that would be answered too late. */
export function shed(load: Load): onRequestHookHandler {
  return (_request, reply, done) => {
    if (load.accept()) done()
    else refuse(reply)
  }
}

/** The same to a caller who has more under way than others. */
export function shedByCaller(load: Load): onRequestHookHandler {
  return ({ actor }, reply, done) => {
    if (load.hasItsShare(actor!.name)) refuse(reply)
    else done()
  }
}

/** Answers 503: the service is overloaded. */
export function refuse(reply: FastifyReply): void {
  reply.shed = true
  reply.code(status).headers(headers).send(body)
}

/**
 * Deliveries (webhooks) of shops and payment providers, which sign the body instead of sending an API key. A wrong
 * signature gets the same answer whether or not the source exists.
 */
import type { FastifyInstance, onRequestHookHandler } from 'fastify'
import { Failure } from '../base/errors.ts'
import { networksOf } from '../base/network.ts'
import type { Context } from '../events/write.ts'
import type { Resource, SignedEndpoint } from './endpoint.ts'
import { admitBody } from './limits/bodies.ts'
import type { Load } from './limits/load.ts'
import { refuse, shed } from './stages/shed.ts'

export interface SignedOptions {
  readonly context: Context
  readonly load: Load
  readonly resources: readonly Resource[]
}

/** A Fastify plugin. */
export async function signed(
  scope: FastifyInstance,
  { context, load, resources }: SignedOptions,
): Promise<void> {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  for (const endpoint of resources.flatMap(({ signed = [] }) => signed))
    addSigned(scope, endpoint, context, load)
}

function addSigned(scope: FastifyInstance, endpoint: SignedEndpoint, context: Context, load: Load): void {
  const admit: onRequestHookHandler = (request, reply, done) => {
    try {
      admitBody(request, reply, load, networksOf(request.ip)[0])
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      // Other senders of its network may have used up the limit, so for this one the service is overloaded.
      refuse(reply)
      return
    }
    done()
  }
  scope.post<{ Params: { id: string } }>(endpoint.path.replace(/\{\w+\}/, ':id'), {
    onRequest: [shed(load), admit],
    handler: async ({ params, headers, body, ip: address }) => {
      const id = Number(params.id)
      if (!Number.isSafeInteger(id) || !Buffer.isBuffer(body)) throw new Failure('wrong_signature')
      const end = load.begin(networksOf(address)[0])
      try {
        return await endpoint.take(context, id, { headers, body, address })
      } finally {
        end()
      }
    },
  })
}

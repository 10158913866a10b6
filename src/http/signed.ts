/**
 * Deliveries (webhooks) of shops and payment providers, which sign the body instead of sending an API key. A wrong
 * signature gets the same answer whether or not the source exists.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Failure } from '../base/errors.ts'
import type { Load } from './limits/load.ts'
import { shed } from './stages/shed.ts'

interface SignedRequest {
  readonly headers: FastifyRequest['headers']
  readonly body: Buffer
  /** The client's network address; taken from a trusted proxy's header where there is one. */
  readonly address: string
}

export interface SignedOptions {
  readonly load: Load
  /** `{id}` is the identifier of the record that has the secret. */
  readonly path: string
  /** @throws Failure wrong_signature */
  take(id: number, request: SignedRequest): Promise<object>
}

/** A Fastify plugin. */
export async function signed(scope: FastifyInstance, { load, path, take }: SignedOptions): Promise<void> {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  scope.post<{ Params: { id: string } }>(path.replace('{id}', ':id'), {
    onRequest: shed(load),
    handler: async ({ params, headers, body, ip: address }) => {
      const id = Number(params.id)
      if (!Number.isSafeInteger(id) || !Buffer.isBuffer(body)) throw new Failure('wrong_signature')
      const end = load.begin()
      try {
        return await take(id, { headers, body, address })
      } finally {
        end()
      }
    },
  })
}

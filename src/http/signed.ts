/**
 * Deliveries whose senders have no API key and sign the bytes of the body instead: shops and payment providers. A wrong
 * signature is answered alike whether or not the source exists.
 */
import type { FastifyInstance, FastifyRequest } from 'fastify'
import { Failure } from '../base/errors.ts'
import type { Load } from './limits/load.ts'
import { shed } from './stages/shed.ts'

interface SignedRequest {
  readonly headers: FastifyRequest['headers']
  readonly body: Buffer
  /** The client's network address; a proxy that is trusted names it. */
  readonly address: string
}

export interface SignedOptions {
  readonly load: Load
  /** `:id` stands for the number of whatever has the secret. */
  readonly path: string
  /** @throws Failure wrong_signature */
  take(id: number, request: SignedRequest): Promise<object>
}

/** A Fastify plugin. */
export async function signed(scope: FastifyInstance, { load, path, take }: SignedOptions): Promise<void> {
  scope.removeAllContentTypeParsers()
  scope.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
  scope.post<{ Params: { id: string } }>(path, {
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

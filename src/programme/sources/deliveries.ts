import { Type } from 'typebox'
import { service } from '../../base/actor.ts'
import { ArgumentReader } from '../../http/arguments.ts'
import type { SignedEndpoint } from '../../http/endpoint.ts'
import { parseObject } from '../../http/parameters.ts'
import { createArguments } from '../conversions/schema.ts'
import { deliver } from './rules.ts'
import { source } from './source.ts'

/** Arguments in a payload are checked like those sent with an API key. */
const reader = new ArgumentReader(createArguments)

const result = Type.Object({
  status: Type.Integer({ description: 'Status of the answer to a request that reports it alone.' }),
  conversion_id: Type.Optional(Type.Integer({ description: 'The conversion, if it was accepted.' })),
  code: Type.Optional(Type.String({ description: 'Code of the error, if it was refused.' })),
  message: Type.Optional(Type.String({ description: 'Why it was refused.' })),
})

/** Where senders deliver what a source reads. */
export const deliveries: SignedEndpoint = {
  methods: ['POST'],
  path: '/sources/{source_id}/deliveries',
  summary: 'Send a delivery to a source',
  arguments: source.item,
  signature: {
    header: 'X-Signature',
    description:
      'Signature of the body, made with the secret of the source: in the way and in the header of Stripe or WooCommerce, or, for generic sources, the HMAC-SHA256 of the body in the header that signature_header names.',
  },
  answer: {
    status: 200,
    schema: Type.Object({
      results: Type.Array(result, { description: 'One result for each conversion that was read.' }),
      ignored: Type.Optional(Type.String({ description: 'Why the delivery has no effect, if it has none.' })),
    }),
  },
  failures: ['secret_key'],
  take: ({ database, settings, within }, id, { headers, body, address }) => {
    const actor = { ...service.actor, name: `source ${id}` }
    const by = { database, settings, within, actor, address }
    return deliver(by, id, { headers, body, parse: parseObject, argumentsOf: reader.checked })
  },
}

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
  status: Type.Integer({ description: 'As of a request that reports it alone.' }),
  conversion_id: Type.Optional(Type.Integer({ description: 'The conversion, where it was taken.' })),
  code: Type.Optional(Type.String({ description: 'Of the error, where it was not.' })),
  message: Type.Optional(Type.String({ description: 'Why it was not taken.' })),
})

/** Where senders deliver what a source reads. */
export const deliveries: SignedEndpoint = {
  methods: ['POST'],
  path: '/sources/{source_id}/deliveries',
  summary: 'Deliver to a source what has happened in its shop',
  arguments: source.item,
  signature: {
    header: 'X-Signature',
    description:
      "The signature is made of the body by the secret of the source: as Stripe and WooCommerce sign, in headers of their own, or else the body's HMAC-SHA256, in the header that the source has as signature_header.",
  },
  answer: {
    status: 200,
    schema: Type.Object({
      results: Type.Array(result, { description: 'A result for each conversion that was read.' }),
      ignored: Type.Optional(
        Type.String({ description: 'Why the delivery changes nothing, where that is so.' }),
      ),
    }),
  },
  failures: ['secret_key'],
  take: ({ database, settings, within }, id, { headers, body, address }) => {
    const actor = { ...service.actor, name: `source ${id}` }
    const by = { database, settings, within, actor, address }
    return deliver(by, id, { headers, body, parse: parseObject, argumentsOf: reader.checked })
  },
}

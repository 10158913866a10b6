import { service } from '../../base/actor.ts'
import type { Context } from '../../events/write.ts'
import { ArgumentReader } from '../../http/arguments.ts'
import { parseJson } from '../../http/parameters.ts'
import type { SignedOptions } from '../../http/signed.ts'
import { createArguments } from '../conversions/schema.ts'
import { deliver } from './rules.ts'

/** Arguments in a payload are checked like those sent with an API key. */
const reader = new ArgumentReader(createArguments)

/** The endpoint for deliveries of sources. */
export function deliveriesTo(context: Context): Pick<SignedOptions, 'path' | 'take'> {
  return {
    path: '/sources/{id}/deliveries',
    take: (id, { headers, body, address }) => {
      const actor = { ...service.actor, name: `source ${id}` }
      const { database, settings, within } = context
      const by = { database, settings, within, actor, address }
      return deliver(by, id, { headers, body, parse: parseJson, argumentsOf: reader.checked })
    },
  }
}

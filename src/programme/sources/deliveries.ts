import { service } from '../../base/actor.ts'
import type { Context } from '../../events/write.ts'
import { ArgumentReader, refuse } from '../../http/arguments.ts'
import { noParameters, parseJson } from '../../http/parameters.ts'
import type { SignedOptions } from '../../http/signed.ts'
import { type CreateArguments, createArguments } from '../conversions/schema.ts'
import { deliver } from './rules.ts'

const reader = new ArgumentReader(createArguments)

/** Arguments in a payload are checked like those sent with an API key. */
function argumentsOf(values: object): CreateArguments {
  const { args, problems, missing } = reader.read(noParameters, { ...values }, noParameters)
  refuse(missing, problems)
  return args as CreateArguments
}

/** The endpoint for deliveries of sources. */
export function deliveriesTo(context: Context): Pick<SignedOptions, 'path' | 'take'> {
  return {
    path: '/sources/:id/deliveries',
    take: (id, { headers, body, address }) => {
      const actor = { ...service.actor, name: `source ${id}` }
      const { database, settings, within } = context
      const by = { database, settings, within, actor, address }
      return deliver(by, id, { headers, body, parse: parseJson, argumentsOf })
    },
  }
}

import { Type } from 'typebox'
import { endpoint, type Resource } from '../../http/endpoint.ts'
import { crud, listingOf } from '../../records/crud.ts'
import { rules, tryOut } from './rules.ts'
import { source } from './source.ts'

const plain = crud(source, rules, { create: ['secret_key'], edit: ['secret_key'] })

/** Shows how a sample would be read. */
const trial = endpoint({
  methods: ['POST'],
  path: '/sources/{source_id}/try',
  permission: 'sources.edit',
  summary: 'Try how a source would read a sample',
  arguments: Type.Object({
    ...source.item.properties,
    payload: Type.Unknown({ description: 'Sample of what the sender sends.' }),
  }),
  answer: {
    status: 200,
    schema: Type.Object({
      conversions: Type.Array(Type.Unknown()),
      event: Type.Optional(
        Type.String({ description: "The sender's name for the event; empty if there is none." }),
      ),
      names: Type.Optional(Type.Array(Type.String())),
      ignored: Type.Optional(Type.String()),
    }),
  },
  failures: ['no_source'],
  handle: async (call, { source_id: id, payload }) => ({
    status: 200,
    body: JSON.stringify(await tryOut(call, id, payload)),
  }),
})

export const sources: Resource = {
  ...plain,
  endpoints: [...plain.endpoints, trial],
}

export const listing = listingOf(source, rules)

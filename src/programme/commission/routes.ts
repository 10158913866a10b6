import { endpoint, type Resource } from '../../http/endpoint.ts'
import { crud, listingOf } from '../../records/crud.ts'
import { preview, previewArguments, previewSchema, problemsOfPreview } from './preview.ts'
import { rule } from './rule.ts'
import { rules as whatIsTrue } from './rules.ts'

const plain = crud(rule, whatIsTrue, { edit: ['rule_conflict'], delete: ['rule_conflict'] })

export const rules: Resource = {
  ...plain,
  endpoints: [
    ...plain.endpoints,
    endpoint({
      methods: ['POST'],
      path: '/rules/preview',
      permission: 'rules.read',
      summary: 'Preview what a sale would earn, and why',
      arguments: previewArguments,
      answer: { status: 200, schema: previewSchema },
      check: problemsOfPreview,
      handle: async (call, args) => ({ status: 200, body: JSON.stringify(await preview(call, args)) }),
    }),
  ],
}

export const listing = listingOf(rule, whatIsTrue)

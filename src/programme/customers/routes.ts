import { type Static, Type } from 'typebox'
import { linkedAccount } from '../../accounts/users/extra.ts'
import { email, flag, identifier } from '../../base/schemas.ts'
import { type Endpoint, endpoint, type Resource } from '../../http/endpoint.ts'
import { crud, listingOf } from '../../records/crud.ts'
import { customer } from './customer.ts'
import { extrasOf, findByEmail, rules } from './rules.ts'

const plain = crud(customer, rules, { create: ['customer_exists'], edit: ['customer_exists'] })

const record = Type.Object(
  {
    ...customer.record.properties,
    user: Type.Optional(
      Type.Union([Type.Object(linkedAccount), Type.Literal(false)], {
        description: "The customer's account, or false if there is none; only with user=1.",
      }),
    ),
    meta: Type.Optional(
      Type.Object(
        { affiliate_id: Type.Array(Type.Integer()) },
        { description: 'The affiliates to whom the customer is linked; only with meta=1.' },
      ),
    ),
  },
  { title: 'CustomerWithExtras' },
)

const extrasArguments = {
  user: Type.Optional(flag("Adds the customer's account.")),
  meta: Type.Optional(flag('Adds the affiliates to whom the customer is linked.')),
}

const item = Type.Object({
  customer_id: Type.Union([identifier(), email('An e-mail address.')], {
    description: 'Identifier of the customer, or their e-mail address, ignoring case.',
  }),
  ...extrasArguments,
})

const get: Endpoint = endpoint({
  methods: ['GET'],
  path: '/customers/{customer_id}',
  permission: 'customers.read',
  summary: 'Get a customer',
  arguments: item,
  answer: { status: 200, schema: record },
  failures: ['no_customer'],
  handle: async (call, { customer_id: name, ...extras }: Static<typeof item>) => {
    const row = typeof name === 'string' ? await findByEmail(call, name) : await rules.get(call, name)
    const record = customer.show(row, await call.settings.current())
    return { status: 200, body: JSON.stringify({ ...record, ...(await extrasOf(call, row, extras)) }) }
  },
})

export const customers: Resource = {
  ...plain,
  record,
  endpoints: plain.endpoints.map(endpoint =>
    endpoint.path === get.path && endpoint.methods.includes('GET') ? get : endpoint,
  ),
}

export const listing = listingOf(customer, rules)

import { Type } from 'typebox'
import type { KeyRing } from '../../accounts/keys/rules.ts'
import { identifier } from '../../base/schemas.ts'
import { endpoint, type Resource } from '../../http/endpoint.ts'
import { eraseAnother, eraseCustomer } from './rules.ts'

const erased = Type.Object({
  id: Type.Integer({ description: 'Identifier of the customer or account.' }),
  erased: Type.Literal(true),
})
const answer = { status: 200, schema: erased } as const
const done = (id: number) => ({ status: 200, body: JSON.stringify({ id, erased: true }) }) as const

/** What a person may ask for, where somebody works on it by hand. @param ring the keys that this process knows */
export const erasures = (ring: KeyRing): Resource => ({
  name: 'erasures',
  title: 'Erasures',
  record: erased,
  missing: 'no_route',
  endpoints: [
    endpoint({
      methods: ['POST'],
      path: '/erasures/customers/{customer_id}',
      permission: 'erasures.create',
      summary: 'Erase the personal data of a customer who has no account',
      arguments: Type.Object({ customer_id: identifier('Identifier of the customer.') }),
      answer,
      failures: ['no_customer'],
      handle: async (call, { customer_id }) => {
        await eraseCustomer(call, customer_id)
        return done(customer_id)
      },
    }),
    endpoint({
      methods: ['POST'],
      path: '/erasures/users/{user_id}',
      permission: 'users.delete',
      summary: 'Erase the personal data of an account, and of the affiliate and customer that belong to it',
      arguments: Type.Object({ user_id: identifier('Identifier of the account.') }),
      answer,
      failures: ['no_user', 'last_administrator'],
      handle: async (call, { user_id }) => {
        await eraseAnother(call, user_id)
        ring.forget()
        return done(user_id)
      },
    }),
  ],
})

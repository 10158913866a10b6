import type { Engine } from '../database.ts'

/** Names and addresses of people get an index by which a part of them is found. */
export function search(engine: Engine): string[] {
  return [
    ...engine.search.indexed('users', ['login_key', 'email_key', 'display_name_key']),
    ...engine.search.indexed('customers', ['first_name_key', 'last_name_key', 'email_key']),
  ]
}

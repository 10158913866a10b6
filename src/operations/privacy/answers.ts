/** What was answered about people, which is stored for a day where the request had an Idempotency-Key. */
import { eraseStored } from '../../http/lines.ts'
import type { Tx } from '../../storage/database.ts'

/** Erases stored answers about an account or about customers: the records themselves, affiliates, and conversions. */
export async function eraseAnswersAbout(
  tx: Tx,
  { user, customers }: { readonly user?: number; readonly customers: readonly number[] },
): Promise<void> {
  await eraseStored(tx, [
    ...(user === undefined ? [] : [`"user_id":${user},`]),
    ...customers.map(id => `"customer_id":${id},`),
  ])
}

import { personOfDeleted } from '../../events/read.ts'
import type { Tx } from '../../storage/database.ts'
import { affiliates } from './store.ts'

/** The account of an affiliate, also of a deleted one: events that hold words about the affiliate are erased with it. */
export async function accountOf(tx: Tx, id: number): Promise<number | null> {
  const affiliate = await affiliates.find(tx, id)
  return affiliate?.user_id ?? (await personOfDeleted(tx, 'affiliate', id))
}

/** What a person has said of why a referral is rejected: it is about the affiliate, and ends with the rejection. */
import { deletedAmong } from '../../events/read.ts'
import type { Tx } from '../../storage/database.ts'
import { affiliates } from '../affiliates/store.ts'
import type { Referral } from './referral.ts'

interface Sides {
  readonly before?: Referral | undefined
  readonly after?: Referral | undefined
}

export const endOfRejection = (
  before: Pick<Referral, 'status'>,
  { status = before.status }: Partial<Pick<Referral, 'status'>>,
) => (before.status === 'rejected' && status !== 'rejected' ? { rejection_reason: '' } : {})

/** Names in the event whom the reason is about, so that it is erased with them. */
export async function aboutWhom(tx: Tx, { before, after }: Sides): Promise<{ person?: number | null }> {
  const told = [after, before].find(side => side !== undefined && side.rejection_reason !== '')
  if (!told || before?.rejection_reason === after?.rejection_reason) return {}
  const { affiliate_id: id } = told
  const affiliate = await affiliates.find(tx, id)
  return {
    person: affiliate?.user_id ?? (await deletedAmong(tx, 'affiliate', [id])).get(id)?.personId ?? null,
  }
}

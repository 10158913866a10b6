/** What a person has said of why a referral is rejected: it is about the affiliate, and ends with the rejection. */
import type { Settings } from '../../base/settings.ts'
import type { WriteTx } from '../../events/write.ts'
import type { Tx } from '../../storage/database.ts'
import { accountOf } from '../affiliates/account.ts'
import { type Referral, referral } from './referral.ts'

interface Sides {
  readonly before?: Referral | undefined
  readonly after?: Referral | undefined
}

/** It ends with the rejection, and where another affiliate has earned it, of whom nothing was said yet. */
export function endOfRejection(
  before: Pick<Referral, 'status' | 'affiliate_id'>,
  {
    status = before.status,
    affiliate_id = before.affiliate_id,
    rejection_reason,
  }: Partial<Pick<Referral, 'status' | 'affiliate_id' | 'rejection_reason'>>,
) {
  const isOver = before.status === 'rejected' && status !== 'rejected'
  const isOfAnother = affiliate_id !== before.affiliate_id && rejection_reason === undefined
  return isOver || isOfAnother ? { rejection_reason: '' } : {}
}

/**
 * An event can be about one person: what was said of an affiliate who has not earned it ends in an event of its own.
 * @returns what is left to be logged
 */
export async function endOfWords(tx: WriteTx, sides: Sides, settings: Settings): Promise<Sides> {
  const { before, after } = sides
  const isOfAnother = before && after && after.affiliate_id !== before.affiliate_id
  if (!isOfAnother || before.rejection_reason === '') return sides
  const without = { ...before, rejection_reason: '' }
  tx.log('referral.edit', before.id, {
    before: referral.logged(before, settings),
    after: referral.logged(without, settings),
    ...(await aboutWhom(tx, { before, after: without })),
  })
  return { before: without, after }
}

/** Names in the event whom the reason is about, so that it is erased with them. */
export async function aboutWhom(tx: Tx, { before, after }: Sides): Promise<{ person?: number | null }> {
  const told = [after, before].find(side => side !== undefined && side.rejection_reason !== '')
  if (!told || before?.rejection_reason === after?.rejection_reason) return {}
  return { person: await accountOf(tx, told.affiliate_id) }
}

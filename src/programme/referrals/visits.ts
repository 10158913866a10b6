/** The visit that a referral names counts as converted by it. */
import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import { convert, release, visits } from '../visits/store.ts'
import type { Referral } from './referral.ts'
import { firstOfVisit } from './store.ts'
import { isEarned } from './types.ts'

/**
 * A visit counts as converted once its referral is approved, until that is rejected, deleted, or names another visit or
 * affiliate, and no other one that counts names the visit.
 */
export async function tellVisits(
  tx: WriteTx,
  { before, after }: { before?: Referral | undefined; after?: Referral | undefined },
): Promise<void> {
  const time = now()
  const isLost =
    !after ||
    after.visit_id !== before?.visit_id ||
    after.affiliate_id !== before.affiliate_id ||
    after.status === 'rejected'
  if (before && before.visit_id !== 0 && isLost) await passVisitOn(tx, before, time)
  if (after && after.visit_id !== 0 && isEarned(after)) {
    const { id: referralId, visit_id: visitId, affiliate_id: affiliateId } = after
    await convert(tx, { visitId, affiliateId, referralId, time })
  }
}

/** From a referral that no longer counts for its visit to another one that does, if there is any. */
async function passVisitOn(tx: WriteTx, before: Referral, time: number): Promise<void> {
  const { id, visit_id: visitId, affiliate_id: affiliateId } = before
  // Locked, since another referral of the visit may be losing it at the same moment. It may have been removed.
  if (!(await visits.lock(tx, visitId))) return
  await release(tx, { visitId, referralId: id, time })
  const referralId = await firstOfVisit(tx, { visitId, affiliateId, without: id })
  if (referralId !== undefined) await convert(tx, { visitId, affiliateId, referralId, time })
}

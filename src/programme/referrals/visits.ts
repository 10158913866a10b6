/** Marks the visit that a referral names as converted by it. */
import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import { convert, release, visits } from '../visits/store.ts'
import type { Referral } from './referral.ts'
import { firstOfVisit } from './store.ts'
import { isEarned } from './types.ts'

/**
 * A visit is converted once a referral that names it is earned. When that is rejected, deleted, or names another visit or affiliate,
 * another earned referral that names the visit takes its place; without one, the visit is no longer converted.
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

/** Gives the visit of a referral to another earned referral that names it, if there is one. */
async function passVisitOn(tx: WriteTx, before: Referral, time: number): Promise<void> {
  const { id, visit_id: visitId, affiliate_id: affiliateId } = before
  // Another referral of the visit may be losing it at the same moment; the visit may also have been removed.
  if (!(await visits.lock(tx, visitId))) return
  await release(tx, { visitId, referralId: id, time })
  const referralId = await firstOfVisit(tx, { visitId, affiliateId, without: id })
  if (referralId !== undefined) await convert(tx, { visitId, affiliateId, referralId, time })
}

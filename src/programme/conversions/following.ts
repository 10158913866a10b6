/** Credits the rest of what customers have bought since they belong to an affiliate, where that is much. */
import { type RequestContext, writeMany } from '../../events/write.ts'
import { customers } from '../customers/store.ts'
import { attribute, buyerOf } from './attribution.ts'
import { creditFollowing } from './crediting.ts'
import { endFollowing, holdNext } from './following-store.ts'
import { Payments, UNKNOWN } from './payments.ts'
import { claimantsOf } from './store.ts'

/** Continues until nothing is left, however many processes run this at the same time. */
export async function creditRest(
  context: RequestContext,
  isClosed: () => boolean = () => false,
): Promise<void> {
  while (!isClosed() && (await creditSome(context)));
}

/** @returns whether there may be more */
function creditSome(context: RequestContext): Promise<boolean> {
  return writeMany(context, async tx => {
    const settings = await context.settings.hold(tx)
    const next = await holdNext(tx)
    if (!next) return false
    const customer = await customers.hold(tx, next.customer_id)
    const owner = customer?.affiliate_id ?? 0
    const claimants = await claimantsOf(tx, [owner])
    const claims = [{ by: 'customer' as const, affiliateId: owner }]
    const { affiliateId } = attribute(claims, claimants, [buyerOf(customer)])
    const claimant = claimants.get(affiliateId)
    const recording = {
      tx,
      settings,
      payments: new Payments(),
      sourceId: 0,
      names: { context: '', names: [] },
    }
    if (claimant) await creditFollowing(recording, UNKNOWN, next, claimant)
    else await endFollowing(tx, next.customer_id)
    return true
  })
}

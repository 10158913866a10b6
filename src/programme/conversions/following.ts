/** Credits the rest of what customers have bought since they belong to an affiliate, where that is much. */
import { Failure } from '../../base/errors.ts'
import { type RequestContext, write, writeMany } from '../../events/write.ts'
import { customers } from '../customers/store.ts'
import { attribute, buyerOf } from './attribution.ts'
import { creditFollowing } from './crediting.ts'
import { endFollowing, holdPlace, nextCustomer } from './following-store.ts'
import { Payments, UNKNOWN } from './payments.ts'
import { claimantsOf } from './store.ts'

/** Continues until nothing is left, however many processes run this at the same time. */
export async function creditRest(
  context: RequestContext,
  isClosed: () => boolean = () => false,
): Promise<void> {
  for (;;) {
    const next = isClosed() ? undefined : await nextCustomer(context.database.reader)
    if (next === undefined) return
    try {
      await creditSome(context, next)
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      // Such as a commission that is more than an amount can be: it keeps no other customer waiting.
      await write(context, tx => endFollowing(tx, next))
    }
  }
}

function creditSome(context: RequestContext, customerId: number): Promise<void> {
  return writeMany(context, async tx => {
    const settings = await context.settings.hold(tx)
    const next = await holdPlace(tx, customerId)
    // Another process has done it meanwhile.
    if (!next) return
    const customer = await customers.hold(tx, customerId)
    const owner = customer?.affiliate_id ?? 0
    const claimants = await claimantsOf(tx, [owner])
    const claims = [{ by: 'customer' as const, affiliateId: owner }]
    const { affiliateId } = attribute(claims, claimants, [buyerOf(customer)])
    const claimant = claimants.get(affiliateId)
    const names = { context: '', names: [] }
    const recording = { tx, settings, payments: new Payments(), sourceId: 0, names }
    if (claimant) await creditFollowing(recording, UNKNOWN, next, claimant)
    else await endFollowing(tx, customerId)
  })
}

/** Credits the rest of what customers have bought since they belong to an affiliate, where that is much. */
import { Failure } from '../../base/errors.ts'
import { type RequestContext, write, writeMany } from '../../events/write.ts'
import { lockSales } from '../commission/judging.ts'
import { customers } from '../customers/store.ts'
import { attribute, buyerOf } from './attribution.ts'
import type { Conversion } from './conversion.ts'
import { creditFollowing, MOST_FOLLOWING } from './crediting.ts'
import { continueFrom, endFollowing, lockPlace, nextCustomer, uncreditedOf } from './following-store.ts'
import { Payments, UNKNOWN } from './payments.ts'
import { claimantsOf } from './store.ts'

/** Told of a purchase that cannot be credited, such as one whose commission is more than an amount can be. */
export type PassedOver = (purchase: Conversion, cause: Failure) => void

/** Continues until nothing is left, however many processes run this at the same time. */
export async function creditRest(
  context: RequestContext,
  isClosed: () => boolean = () => false,
  passedOver: PassedOver = () => {},
): Promise<void> {
  for (;;) {
    const customerId = isClosed() ? undefined : await nextCustomer(context.database.reader)
    if (customerId === undefined) return
    await creditNext(context, customerId, MOST_FOLLOWING, passedOver)
  }
}

/** Where one cannot be credited, the others are one by one: it keeps nobody waiting. */
async function creditNext(
  context: RequestContext,
  customerId: number,
  most: number,
  passedOver: PassedOver,
): Promise<void> {
  try {
    await creditSome(context, customerId, most)
  } catch (cause) {
    if (!(cause instanceof Failure)) throw cause
    if (most === 1) return passOver(context, customerId, purchase => passedOver(purchase, cause))
    for (let tried = 0; tried < most; tried += 1) await creditNext(context, customerId, 1, passedOver)
  }
}

function creditSome(context: RequestContext, customerId: number, most: number): Promise<void> {
  return writeMany(context, async tx => {
    const settings = await context.settings.lock(tx)
    await lockSales(tx, settings)
    const next = await lockPlace(tx, customerId)
    // Another process has done it meanwhile.
    if (!next) return
    const customer = await customers.lock(tx, customerId)
    const owner = customer?.affiliate_id ?? 0
    const claimants = await claimantsOf(tx, [owner])
    const claims = [{ by: 'customer' as const, affiliateId: owner }]
    const { affiliateId } = attribute(claims, claimants, [buyerOf(customer)])
    const claimant = claimants.get(affiliateId)
    const names = { context: '', names: [] }
    const recording = { tx, settings, payments: new Payments(), sourceId: 0, names }
    if (claimant) await creditFollowing(recording, UNKNOWN, next, claimant, most)
    else await endFollowing(tx, customerId)
  })
}

async function passOver(
  context: RequestContext,
  customerId: number,
  passedOver: (purchase: Conversion) => void,
): Promise<void> {
  const purchase = await write(context, async tx => {
    const next = await lockPlace(tx, customerId)
    // Another process has done it meanwhile.
    const [purchase] = next ? await uncreditedOf(tx, next, 1) : []
    if (purchase) {
      const { customer_id, occurred_at, id } = purchase
      await continueFrom(tx, { customer_id, occurred_at, conversion_id: id })
    }
    return purchase
  })
  if (purchase) passedOver(purchase)
}

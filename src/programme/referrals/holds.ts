/** Ends holds: a referral that is pending until a certain time is owed from then on. */
import { now } from '../../base/time.ts'
import { type RequestContext, writeMany } from '../../events/write.ts'
import { finish } from './changing.ts'
import * as store from './store.ts'

/** How many are changed in one transaction, so that no other write waits for long. */
const BATCH = 100

/** Ends every hold that is due, each once, however many processes run this at the same time. */
export async function endHolds(
  context: RequestContext,
  isClosed: () => boolean = () => false,
): Promise<number> {
  let endedCount = 0
  for (;;) {
    const count = await endSome(context)
    endedCount += count
    if (count < BATCH || isClosed()) return endedCount
  }
}

function endSome(context: RequestContext): Promise<number> {
  return writeMany(context, async tx => {
    const settings = await context.settings.lock(tx)
    const dueReferrals = await store.lockDue(tx, now(), BATCH)
    for (const before of dueReferrals) {
      const after = await store.referrals.update(tx, before, { status: 'unpaid', updated_at: now() })
      await finish(tx, 'referral.approve', { before, after }, settings)
    }
    return dueReferrals.length
  })
}

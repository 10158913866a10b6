/** Holds end by themselves: what is pending until a moment is owed from then on. */
import { now } from '../../base/time.ts'
import { type RequestContext, write } from '../../events/write.ts'
import { finish } from './rules.ts'
import * as store from './store.ts'

/** In one transaction, so that no other write waits for long. */
const BATCH = 100

/** Ends all that are due, each once, however many processes do so at the same time. */
export async function endHolds(
  context: RequestContext,
  isClosed: () => boolean = () => false,
): Promise<number> {
  let ended = 0
  for (;;) {
    const some = await endSome(context)
    ended += some
    if (some < BATCH || isClosed()) return ended
  }
}

function endSome(context: RequestContext): Promise<number> {
  return write(context, async tx => {
    const settings = await context.settings.hold(tx)
    const due = await store.holdDue(tx, now(), BATCH)
    for (const before of due) {
      const after = await store.referrals.update(tx, before.id, { status: 'unpaid', updated_at: now() })
      await finish(tx, 'referral.approve', { before, after }, settings)
    }
    return due.length
  })
}

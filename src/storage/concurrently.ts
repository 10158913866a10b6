/** Work on many items in one transaction, in which other requests get their turn of the event loop. */
import { setImmediate } from 'node:timers/promises'
import type { Tx } from './database.ts'
import { directRun } from './prepared.ts'

/** Where statements are round trips, those of so many items share them. */
export const AT_ONCE = 50
/** Where a statement is no round trip, all of these items are worked on in one turn of the event loop. */
const AT_ONCE_NEAR = 8
/** Others get a turn after so long, as they do between transactions of the embedded engine. */
const TURN_MS = 5

/**
 * Works on items that do not depend on one another: on some at a time, and waits for all of these even if one fails, since nothing
 * of a transaction may run on while it is rolled back.
 * @throws the first failure
 */
export function forEachConcurrently<T>(
  tx: Tx,
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  return inParts(items, directRun(tx) ? AT_ONCE_NEAR : AT_ONCE, work)
}

/** Works on one item after the other. @throws the first failure */
export function forEachInTurn<T>(items: readonly T[], work: (item: T) => Promise<void>): Promise<void> {
  return inParts(items, 1, work)
}

async function inParts<T>(
  items: readonly T[],
  size: number,
  work: (item: T) => Promise<void>,
): Promise<void> {
  let since = performance.now()
  for (let start = 0; start < items.length; start += size) {
    if (performance.now() - since > TURN_MS) {
      await setImmediate()
      since = performance.now()
    }
    let failure: { readonly reason: unknown } | undefined
    await Promise.all(
      items.slice(start, start + size).map(item =>
        work(item).catch(reason => {
          failure ??= { reason }
        }),
      ),
    )
    if (failure) throw failure.reason
  }
}

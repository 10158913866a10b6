/** Work on many items that do not depend on one another. */
import { setImmediate } from 'node:timers/promises'

/** Items worked on before other requests get a turn of the event loop. */
const AT_ONCE = 50

/**
 * Works on up to 50 items at a time, and waits for all of these even if one fails: nothing of a transaction may run on
 * while it is rolled back.
 * @throws the first failure
 */
export async function forEachConcurrently<T>(
  items: readonly T[],
  work: (item: T) => Promise<void>,
): Promise<void> {
  for (let start = 0; start < items.length; start += AT_ONCE) {
    if (start > 0) await setImmediate()
    let failure: { readonly reason: unknown } | undefined
    await Promise.all(
      items.slice(start, start + AT_ONCE).map(item =>
        work(item).catch(reason => {
          failure ??= { reason }
        }),
      ),
    )
    if (failure) throw failure.reason
  }
}

/** Work on many things that do not depend on one another. */
import { setImmediate } from 'node:timers/promises'

/** Worked on before other requests get a turn of the event loop. */
const AT_ONCE = 50

/**
 * Works on all of them at once, or on many at a time, and waits for all of these even if one fails: nothing of a transaction
 * may run on while it is rolled back.
 * @throws the first failure
 */
export async function allAtOnce<T>(all: readonly T[], work: (one: T) => Promise<void>): Promise<void> {
  for (let start = 0; start < all.length; start += AT_ONCE) {
    if (start > 0) await setImmediate()
    let failure: { readonly reason: unknown } | undefined
    await Promise.all(
      all.slice(start, start + AT_ONCE).map(one =>
        work(one).catch(reason => {
          failure ??= { reason }
        }),
      ),
    )
    if (failure) throw failure.reason
  }
}

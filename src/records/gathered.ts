/** Records that a caller creates one by one at the same moment are created together. See docs/decisions/gathered.md. */
import { Failure } from '../base/errors.ts'
import type { Settings } from '../base/settings.ts'
import { inTransaction, type RequestContext } from '../events/write.ts'
import type { Writing } from './rules.ts'

/** A new record, and the settings to show it by. */
interface Creation<R> {
  readonly created: R
  readonly settings: Settings
}

/** Items of a list in the arguments, beyond which a record takes so long that others need their turn before the next one. */
const MOST_ITEMS = 100

const isLong = (value: unknown) => Array.isArray(value) && value.length > MOST_ITEMS

/**
 * Creates one, together with others that the caller creates at the same moment where the rules can create many.
 * @param kind the kind's name
 * @throws Failure as `create` does
 */
export async function createGathered<A extends object, R>(
  kind: string,
  context: RequestContext,
  args: A,
  { create, createMany }: Pick<Writing<A, never, R>, 'create' | 'createMany'>,
): Promise<Creation<R>> {
  const one = async () => ({
    created: await create(context, args),
    settings: await context.settings.current(),
  })
  const { database, actor, address } = context
  if (!createMany || !database.gather || Object.values(args).some(isLong)) return one()
  // The actor and the address are in the events.
  const key = [kind, actor.kind, actor.userId, actor.name, address].join(' ')
  return database.gather(key, {
    item: args,
    one,
    many: async (tx, all) => {
      // With the settings of the request, which has read them before.
      const inside = { ...inTransaction(context, tx), settings: context.settings }
      const outcomes = await createMany(inside, all)
      const settings = await inside.settings.current()
      return outcomes.map(one => (one instanceof Failure ? one : { created: one, settings }))
    },
  })
}

/** What is logged of each kind of record, as its table declares it. */
import type { Logged, Schema } from '../storage/table.ts'

export const actorKinds = ['key', 'session', 'visitor', 'command line', 'service'] as const

/**
 * What is done to each kind of record: the folder that owns it adds it (`declare module`).
 * @public
 */
// biome-ignore lint/suspicious/noEmptyInterface: it is filled by those who own the records.
export interface Actions {}

type ActionsOf<K extends keyof Actions & string> = `${K}.${Actions[K] & string}`

/** Such as 'affiliate.edit'. */
export type Action = { [K in keyof Actions & string]: ActionsOf<K> }[keyof Actions & string]

const kindsBySchema = new WeakMap<Schema, ReadonlyMap<string, Logged>>()

/** What events say of each kind of record, by its name. */
export function loggedIn(schema: Schema): ReadonlyMap<string, Logged> {
  let kinds = kindsBySchema.get(schema)
  if (!kinds) {
    const logged = schema.flatMap(table => table.logged ?? [])
    kinds = new Map(logged.map(declaration => [declaration.kind, declaration]))
    kindsBySchema.set(schema, kinds)
  }
  return kinds
}

/** The kinds of record whose changes are logged, and their actions. */
export function vocabulary(
  schema: Schema,
  which: (logged: Logged) => boolean = () => true,
): { kinds: string[]; actions: string[] } {
  const logged = [...loggedIn(schema).values()].filter(which)
  return {
    kinds: logged.map(({ kind }) => kind),
    actions: logged.flatMap(({ kind, actions }) => actions.map(action => `${kind}.${action}`)),
  }
}

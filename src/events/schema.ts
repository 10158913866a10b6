/** Logged values of each kind of record, as its table declares them. */
import type { Logged, Schema } from '../storage/table.ts'

export const actorKinds = ['key', 'session', 'visitor', 'command line', 'service'] as const

/**
 * Actions by kind of record; the folder that owns the kind adds its own (`declare module`).
 * @public
 */
// biome-ignore lint/suspicious/noEmptyInterface: filled by declaration merging.
export interface Actions {}

type ActionsOf<K extends keyof Actions & string> = `${K}.${Actions[K] & string}`

/** Such as 'affiliate.edit'. */
export type Action = { [K in keyof Actions & string]: ActionsOf<K> }[keyof Actions & string]

/**
 * The actions that can create a record of a kind, such as 'affiliate.create': where one of them has no values before it, it
 * has created the record.
 */
export const creatingActions = ({ kind, creating = ['create'] }: Pick<Logged, 'kind' | 'creating'>) =>
  creating.map(verb => `${kind}.${verb}`)

const kindsBySchema = new WeakMap<Schema, ReadonlyMap<string, Logged>>()

/** Logged fields of each kind of record, by kind. */
export function loggedIn(schema: Schema): ReadonlyMap<string, Logged> {
  let kinds = kindsBySchema.get(schema)
  if (!kinds) {
    const logged = schema.flatMap(table => table.logged ?? [])
    kinds = new Map(logged.map(declaration => [declaration.kind, declaration]))
    kindsBySchema.set(schema, kinds)
  }
  return kinds
}

/** Kinds of record in the log, and their actions. */
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

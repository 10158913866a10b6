/** A setting, as data: as callers send and see it, as it is stored, and as rules read it. */
import { type TSchema, Type } from 'typebox'
import { choice, flag } from '../base/schemas.ts'

interface Setting<P extends string = string, S extends TSchema = TSchema, V = unknown> {
  /** Its name in `Settings`. */
  readonly property: P
  readonly schema: S
  /** Schema of its value in the record, where that is another one. */
  readonly shown?: TSchema
  /** @param stored undefined until it is set */
  read(stored: string | undefined): V
  /** The text that is stored of a valid value, where it is not `String` of it. */
  store?(value: never): string
}

/** '' until it is set. */
export const text = <P extends string, S extends TSchema>(
  property: P,
  schema: S,
  store?: (value: string) => string,
): Setting<P, S, string> => ({ property, schema, read: (stored = '') => stored, ...(store && { store }) })

/** One of a few values: the first until it is set. */
export const oneOf = <P extends string, const T extends string>(
  property: P,
  values: readonly [T, ...T[]],
  description: string,
): Setting<P, ReturnType<typeof choice<T>>, T> => ({
  property,
  schema: choice(values, description),
  read: stored => values.find(value => value === stored) ?? values[0],
})

export const yesOrNo = <P extends string>(
  property: P,
  initial: boolean,
  description: string,
): Setting<P, ReturnType<typeof flag>, boolean> => ({
  property,
  schema: flag(description),
  read: (stored = String(initial)) => stored === 'true',
})

interface Days {
  readonly initial: number
  readonly minimum: number
  readonly maximum: number
}

export const days = <P extends string>(
  property: P,
  { initial, minimum, maximum }: Days,
  description: string,
): Setting<P, ReturnType<typeof Type.Integer>, number> => ({
  property,
  schema: Type.Integer({ minimum, maximum, description }),
  read: (stored = String(initial)) => Number(stored),
})

type Settings = Readonly<Record<string, Setting>>

type Value<T extends Setting> = ReturnType<T['read']>

/** Values by their names in `Settings`. */
type ValuesOf<G extends Settings> = { readonly [N in keyof G as G[N]['property']]: Value<G[N]> }

type Shown<V> = V extends readonly (infer E)[] ? E[] : V

interface Group<G extends Settings> {
  readonly names: readonly string[]
  readonly schemas: { [N in keyof G]: G[N]['schema'] }
  readonly shown: { [N in keyof G]: G[N] extends { shown: infer S extends TSchema } ? S : G[N]['schema'] }
  /** The changes among them as name and stored text. */
  stored(changes: object): [string, string][]
  valuesOf(stored: ReadonlyMap<string, string>): ValuesOf<G>
  /** The values as callers see them. */
  recordOf(values: ValuesOf<G>): { [N in keyof G]: Shown<Value<G[N]>> }
}

/** @param settings by the names that callers use */
export function group<const G extends Settings>(settings: G): Group<G> {
  const all = Object.entries<Setting>(settings)
  const derived = {
    names: Object.keys(settings),
    schemas: Object.fromEntries(all.map(([name, { schema }]) => [name, schema])),
    shown: Object.fromEntries(all.map(([name, { schema, shown = schema }]) => [name, shown])),
    stored: (changes: Readonly<Record<string, never>>) =>
      all
        .filter(([name]) => changes[name] !== undefined)
        .map(([name, { store = String }]) => [name, store(changes[name]!)]),
    valuesOf: (stored: ReadonlyMap<string, string>) =>
      Object.fromEntries(all.map(([name, { property, read }]) => [property, read(stored.get(name))])),
    recordOf: (values: Readonly<Record<string, unknown>>) =>
      Object.fromEntries(all.map(([name, { property }]) => [name, values[property]])),
  }
  // Cast: `Object.fromEntries` loses property names.
  return derived as unknown as Group<G>
}

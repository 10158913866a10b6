/** Builds an object with a value for each of the names. */
export function byName<N extends string, V>(names: readonly N[], of: (name: N) => V): Record<N, V> {
  const entries = names.map(name => [name, of(name)])
  // Cast: `Object.fromEntries` forgets which names there are.
  return Object.fromEntries(entries) as Record<N, V>
}

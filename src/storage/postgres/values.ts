/** Serialises values for PostgreSQL. */

/** A value on the wire: text, or null. */
export type WireValue = string | null

const MOST_VALUES = 65_535

/** @throws TypeError for values that PostgreSQL cannot read as text */
export function wireValues(values: readonly unknown[]): WireValue[] {
  if (values.length > MOST_VALUES) throw new TypeError(`A statement takes ${MOST_VALUES} values at most.`)
  return values.map(wireValue)
}

function wireValue(value: unknown): WireValue {
  if (typeof value === 'string' || value === null) return value
  if (typeof value === 'number' || typeof value === 'bigint' || typeof value === 'boolean')
    return String(value)
  if (value === undefined) return null
  if (value instanceof Uint8Array) return `\\x${Buffer.from(value).toString('hex')}`
  throw new TypeError('A value must be a number, text, bytes, true, false or null.')
}

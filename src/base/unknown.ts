/** Type guards for values of unknown type: external input and caught errors. */

/** True for objects and arrays. */
export function hasMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** True for what JSON calls an object, which a number that is kept as it was written (`base/json.ts`) is not. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return hasMembers(value) && !Array.isArray(value) && !JSON.isRawJSON(value)
}

/** A property by name; undefined if the value has none. */
export function memberOf(value: unknown, name: string): unknown {
  return hasMembers(value) ? value[name] : undefined
}

function textOf(value: unknown, name: string): string {
  const text = memberOf(value, name)
  return typeof text === 'string' ? text : ''
}

/** The `code` of a system, driver or library error, such as ENOENT; '' if it has none. */
export function codeOf(error: unknown): string {
  return textOf(error, 'code')
}

/**
 * The message of an error. When several addresses were tried, Node throws an AggregateError without a message of its
 * own.
 */
export function messageOf(error: unknown): string {
  const message = textOf(error, 'message')
  if (message) return message
  const errors = memberOf(error, 'errors')
  return Array.isArray(errors) ? errors.map(messageOf).join(', ') : ''
}

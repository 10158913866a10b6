/** What is looked at before its type is known: what comes from outside, and what was thrown. */

/** Whether it is an object, or an array. */
export function hasMembers(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null
}

/** Whether it is what JSON calls an object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return hasMembers(value) && !Array.isArray(value)
}

/** A member of whatever it is; undefined where it has none of that name. */
export function memberOf(value: unknown, name: string): unknown {
  return hasMembers(value) ? value[name] : undefined
}

function textOf(value: unknown, name: string): string {
  const text = memberOf(value, name)
  return typeof text === 'string' ? text : ''
}

/** How the system, a driver or a library names an error, such as ENOENT; '' where it does not. */
export function codeOf(error: unknown): string {
  return textOf(error, 'code')
}

/** What an error says. Where several addresses were tried, Node gives one error for all, without a message. */
export function messageOf(error: unknown): string {
  const message = textOf(error, 'message')
  if (message) return message
  const errors = memberOf(error, 'errors')
  return Array.isArray(errors) ? errors.map(messageOf).join(', ') : ''
}

/** What an argument must be, in words: for whoever has sent another value, and for the reference pages. Pure. */
import { formats, MIB } from '../base/schemas.ts'
import { isObject, memberOf } from '../base/unknown.ts'
import type { JsonSchema } from './coercion.ts'

/**
 * Why a value is refused: what the argument, or the wrong member of it, must be.
 * @param path to the wrong member, within the argument; of a union, all alternatives are named
 */
export function reasonOf(argument: JsonSchema, sent: unknown, path: readonly string[]): string {
  let subject = ''
  let schema = argument
  let value = sent
  for (const step of path) {
    const member = schema.items ?? schema.properties?.[step]
    if (member === undefined) break
    subject = `${schema.items ? `item ${Number(step) + 1}` : step} ${subject && `of ${subject}`}`
    schema = member
    value = memberOf(value, step)
  }
  return `${subject}must be ${expectation(schema)}.${hintOf(schema, value)}`
}

/** Completes the sentence "must be …". */
export function expectation(schema: JsonSchema): string {
  const {
    type,
    enum: choices,
    const: constant,
    anyOf,
    items,
    properties,
    format,
    minimum,
    maximum,
    minLength,
    maxLength,
    maxItems,
  } = schema
  if (choices) return `one of: ${choices.join(', ')}`
  if (constant === '') return 'empty'
  if (anyOf) return anyOf.filter(isValid).map(expectation).join(', or ')
  switch (type) {
    case 'integer':
    case 'number': {
      if (format) return formats[format]!.expects
      const kind = type === 'integer' ? 'a whole number' : 'a number'
      return kind + rangeOf(minimum, maximum)
    }
    case 'boolean':
      return 'true or false'
    case 'array':
      return `a list of at most ${maxItems}, each ${expectation(items!)}`
    case 'object':
      if (Object.keys(properties!).length === 0) return 'an object'
      return `an object with ${Object.entries(properties!)
        .map(([name, property]) => `${name} (${expectation(property)})`)
        .join(', ')}`
    case 'string':
      return `${format ? formats[format]!.expects : 'text'}${lengthOf(minLength, maxLength)}`
    default:
      return 'any value of JSON'
  }
}

function rangeOf(minimum: number | undefined, maximum: number | undefined): string {
  if (minimum === undefined) return maximum === undefined ? '' : ` of at most ${maximum}`
  return maximum === undefined ? ` of ${minimum} or more` : ` from ${minimum} to ${maximum}`
}

function lengthOf(minimum = 0, maximum: number | undefined): string {
  if (maximum === undefined) return ''
  if (maximum >= MIB && maximum % MIB === 0) return `, at most ${maximum / MIB} MiB`
  return minimum > 1 ? `, from ${minimum} to ${maximum} characters` : `, at most ${maximum} characters`
}

/** Whether no rule refuses what matches this alternative. */
const isValid = (option: JsonSchema) => !option['x-left-to-rules']

const takes = (types: readonly string[], { type = '', anyOf = [], properties = {} }: JsonSchema): boolean =>
  types.includes(type) || [...anyOf, ...Object.values(properties)].some(member => takes(types, member))

/** Whether the text would be accepted. */
function isAccepted(
  text: string,
  { type, enum: choices, format, anyOf = [], properties = {} }: JsonSchema,
): boolean {
  if (choices) return choices.includes(text)
  const rule = format === undefined ? undefined : formats[format]
  if (type === 'string') return rule === undefined || (rule.type !== 'number' && rule.test(text))
  return [...anyOf, ...Object.values(properties)].some(member => isAccepted(text, member))
}

/**
 * Extra advice for a number where text belongs, and for text that a person would read as an amount: it is ambiguous, so it
 * is refused. Text in the place of an identifier is something else.
 */
function hintOf(schema: JsonSchema, value: unknown): string {
  const values = isObject(value) ? Object.values(value) : [value]
  if (!takes(['number', 'integer'], schema)) {
    const isText = values.some(one => typeof one === 'number' && isAccepted(String(one), schema))
    return isText ? ' Send it as text, in quotes.' : ''
  }
  if (!takes(['number'], schema)) return ''
  const texts = values.filter(text => typeof text === 'string').filter(text => /\d/.test(text))
  if (texts.some(text => /\p{Sc}|[a-z]{3}/iu.test(text))) return ' Leave out the currency, as in 12.50.'
  if (texts.some(text => /\d[,'’\s]\d/.test(text))) {
    return ' Leave out what separates thousands, and write a point before the decimals, as in 1234.50.'
  }
  return ''
}

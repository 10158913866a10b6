/** Turns arguments that were sent as text into their declared type. Pure. */
import type { FailureName } from '../base/errors.ts'
import { rounded } from '../base/json.ts'
import { isObject } from '../base/unknown.ts'

/** The subset of JSON Schema that arguments use. */
export interface JsonSchema {
  type?: string
  enum?: readonly string[]
  const?: unknown
  anyOf?: JsonSchema[]
  items?: JsonSchema
  properties?: Record<string, JsonSchema>
  required?: readonly string[]
  additionalProperties?: boolean
  format?: string
  minimum?: number
  maximum?: number
  minLength?: number
  maxLength?: number
  maxItems?: number
  /** Refused in a query. */
  'x-body-only'?: boolean
  /** Refused at all. */
  'x-refused'?: FailureName
  /** Accepted here, and refused by a rule. */
  'x-left-to-rules'?: boolean
}

const NUMBER = /^[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:e[+-]?\d{1,3})?$/i
const BOOLEANS: Record<string, boolean> = {
  true: true,
  '1': true,
  yes: true,
  on: true,
  false: false,
  '0': false,
  no: false,
  off: false,
}

/** The number that text is read as, wherever a number is an argument; undefined if it is none. */
export const numberIn = (text: string): number | undefined => (NUMBER.test(text) ? Number(text) : undefined)

const takesAnyText = ({ type, const: constant, enum: choices }: JsonSchema): boolean =>
  type === 'string' && constant === undefined && choices === undefined

/**
 * Converts text of a query or form to the schema's type, where it can be read as such; validation deals with the
 * rest. Where anything may be sent, numbers keep all their digits.
 */
export function coercer(schema: JsonSchema): (value: unknown) => unknown {
  const coerce = typedCoercer(schema)
  return schema.type === undefined && schema.anyOf === undefined ? coerce : value => coerce(rounded(value))
}

function typedCoercer(schema: JsonSchema): (value: unknown) => unknown {
  if (schema.anyOf) {
    // Where text is taken in the place of a number, it stays as it was written: as a number it could lose digits. An
    // identifier is one in the place of text.
    const isText = schema.anyOf.some(takesAnyText)
    const converted = schema.anyOf.filter(({ type }) => !isText || type !== 'number')
    const members = converted.map(coercer)
    return value => members.reduce((current, coerce) => coerce(current), value)
  }
  switch (schema.type) {
    case 'integer':
    case 'number':
      return value => (typeof value === 'string' ? (numberIn(value) ?? value) : value)
    case 'boolean':
      return value =>
        typeof value === 'string' || typeof value === 'number'
          ? (BOOLEANS[String(value).toLowerCase()] ?? value)
          : value
    case 'array':
      return listCoercer(schema)
    case 'object':
      return objectCoercer(schema)
    case 'string':
      return schema.enum ? choiceCoercer(schema.enum) : value => value
    default:
      return value => value
  }
}

/**
 * Commas separate values, except within text items of a list. Overlong lists are cut to one item above the limit:
 * validation would otherwise check and report every item.
 */
function listCoercer(list: JsonSchema): (value: unknown) => unknown {
  const items = list.items!
  const most = (list.maxItems ?? Number.POSITIVE_INFINITY) + 1
  const coerce = coercer(items)
  const isText = items.type === 'string' && !items.enum
  const parts = (text: string) =>
    text
      .split(',')
      .map(part => part.trim())
      .filter(part => part !== '')
  return value => {
    if (typeof value === 'string') return parts(value).slice(0, most).map(coerce)
    if (typeof value === 'number') return [value]
    if (!Array.isArray(value)) return value
    return value
      .flatMap(item => (typeof item === 'string' && !isText ? parts(item) : [item]))
      .slice(0, most)
      .map(coerce)
  }
}

function objectCoercer(schema: JsonSchema): (value: unknown) => unknown {
  const properties = Object.entries(schema.properties ?? {}).map(
    ([name, property]) => [name, coercer(property)] as const,
  )
  return value => {
    if (!isObject(value)) return value
    const result: Record<string, unknown> = { ...value }
    for (const [name, coerce] of properties) {
      if (Object.hasOwn(value, name)) result[name] = coerce(value[name])
    }
    return result
  }
}

/** Case-insensitive for asc and desc only, which existing clients write in either case. */
function choiceCoercer(choices: readonly string[]): (value: unknown) => unknown {
  if (!choices.includes('asc')) return value => value
  return value => (typeof value === 'string' ? value.toLowerCase() : value)
}

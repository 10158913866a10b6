/**
 * Arguments: collected from path, body and query (in this order of precedence), coerced from text to their declared
 * type (`coercion.ts`), and validated. All invalid ones are reported together, each with what would be valid.
 */
import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv'
import type { Static, TObject } from 'typebox'
import {
  Failure,
  type FailureName,
  invalidArguments,
  missingArguments,
  type Problems,
} from '../base/errors.ts'
import { formats } from '../base/schemas.ts'
import { isObject } from '../base/unknown.ts'
import { coercer, type JsonSchema } from './coercion.ts'
import { reasonOf } from './expectation.ts'
import type { Parameters } from './parameters.ts'

// Schemas are not validated here: they are the program's own, and tests use each of them and validate the OpenAPI
// document.
const ajv = new Ajv({ allErrors: true, strictTypes: false, meta: false, validateSchema: false })
ajv.addKeyword('x-configured')
ajv.addKeyword('x-body-only')
ajv.addKeyword('x-refused')
ajv.addKeyword('x-left-to-rules')
for (const [name, { type, test }] of Object.entries(formats)) {
  ajv.addFormat(name, type === 'number' ? { type, validate: test } : { type: 'string', validate: test })
}

/** Number of unknown names whose values are checked. */
const IGNORED_CHECKED = 100

export interface Read {
  /** The arguments that were sent, coerced, without those in `problems` and `missing`. */
  readonly args: Record<string, unknown>
  readonly problems: Problems
  readonly missing: string[]
  /** Names unknown to the endpoint, and those sent without a value, or with one that their format ignores. */
  readonly ignored: string[]
}

/** Reads the arguments of one endpoint. */
export class ArgumentReader<T extends TObject = TObject> {
  readonly #coercers = new Map<string, (value: unknown) => unknown>()
  readonly #schema: JsonSchema
  #compiled: ValidateFunction | undefined
  readonly #takesFilter: boolean
  readonly #bodyOnly: string[] = []
  readonly #refused: [string, FailureName][] = []

  constructor(schema: T) {
    this.#schema = schema
    const properties: [string, JsonSchema][] = Object.entries(schema.properties)
    for (const [name, property] of properties) {
      this.#coercers.set(name, coercer(property))
      if (property['x-body-only']) this.#bodyOnly.push(name)
      if (property['x-refused']) this.#refused.push([name, property['x-refused']])
    }
    this.#takesFilter = this.#coercers.has('filter')
  }

  /**
   * @param isTyped whether the body has typed values; elsewhere an empty text where none is accepted is a field that was
   *   left blank, and counts as not sent
   * @throws Failure of an argument that is refused
   */
  read(path: Parameters, body: Parameters, query: Parameters, isTyped = true): Read {
    const result: Read = { args: {}, problems: {}, missing: [], ignored: [] }
    this.#takeAll(query, result, isLeftBlank)
    for (const name of this.#bodyOnly) if (Object.hasOwn(query, name)) refuseInQuery(name, result)
    this.#takeAll(body, result, isTyped ? isNull : isLeftBlank)
    this.#take(path, result, isNull)
    this.#refuse(result.args)
    // Compiled on first use: most endpoints are not used in the first second, and together they would double the
    // start-up time.
    this.#compiled ??= ajv.compile(this.#schema)
    if (!this.#compiled(result.args)) this.#explain(this.#compiled.errors!, result)
    return result
  }

  /**
   * Validates values that do not come from a request.
   * @throws Failure if anything is missing or invalid
   */
  readonly checked = (values: object): Static<T> => {
    const { args, missing, problems } = this.read({}, { ...values }, {})
    refuse(missing, problems)
    // Cast: the values match the schema, or `refuse` has thrown.
    return args as Static<T>
  }

  #takeAll(source: Parameters, result: Read, isUnsent: IsUnsent): void {
    this.#take(source, result, isUnsent)
    if (!this.#takesFilter) return
    refuseBeside(source, result)
    this.#take(filterOf(source), result, isUnsent, 'filter')
  }

  #take(source: Parameters, result: Read, isUnsent: IsUnsent, within?: string): void {
    const taking = { isUnsent, result }
    for (const name of Object.keys(source)) {
      const value = source[name]
      if (name === 'filter' && this.#takesFilter && within === undefined && isObject(value)) continue
      const label = within === undefined ? name : `${within}[${name}]`
      const coerce = name === 'filter' ? undefined : this.#coercers.get(name)
      const schema = this.#schema.properties![name]!
      if (coerce === undefined || isUnsent(value, schema) || isIgnored(value, schema))
        ignore(label, value, result)
      else result.args[name] = coerce(sentPart(value, schema, label, taking))
    }
  }

  #refuse(args: Record<string, unknown>): void {
    for (const [name, failure] of this.#refused) {
      if (!noIdentifiers.has(args[name])) throw new Failure(failure)
      delete args[name]
    }
  }

  #explain(errors: readonly ErrorObject[], result: Read): void {
    const { args, missing, problems } = result
    for (const error of errors) {
      const [, name, ...within] = error.instancePath.split('/')
      if (name !== undefined) {
        // Reported already: each alternative of a union adds an error of its own.
        if (!Object.hasOwn(args, name)) continue
        problems[name] = reasonOf(this.#schema.properties![name]!, args[name], within)
        delete args[name]
      } else if (error.keyword === 'required' && !Object.hasOwn(problems, error.params.missingProperty)) {
        missing.push(error.params.missingProperty)
      }
    }
  }
}

/** Although the body may have it too: whoever sends it so has to learn of it. */
function refuseInQuery(name: string, { args, problems }: Read): void {
  problems[name] = 'must stand in the body of the request: addresses are written into logs.'
  delete args[name]
}

/** Without the filters in brackets, all records would be listed. */
function refuseBeside({ filter }: Parameters, { problems }: Read): void {
  if (Array.isArray(filter) && filter.some(isObject)) {
    problems.filter = 'must be sent with brackets only, as in filter[status].'
  }
}

function ignore(label: string, value: unknown, { ignored, problems }: Read): void {
  ignored.push(label)
  // There may be any number of unknown names, so only the first are checked.
  if (ignored.length > IGNORED_CHECKED) return
  if (typeof value === 'string' && !value.isWellFormed()) problems[label] = 'must be UTF-8.'
}

/** Whether a value counts as not sent. */
type IsUnsent = (value: unknown, schema: JsonSchema) => boolean

/** What client programs of AffiliateWP send for none. */
const noIdentifiers: ReadonlySet<unknown> = new Set([undefined, '', 0, '0'])

/** Of JSON. */
const isNull: IsUnsent = value => value === null

/** Of a query or a form, where a field that nobody has filled in is an empty text. */
const isLeftBlank: IsUnsent = (value, schema) => value === '' && !takesEmpty(schema)

/** What the format of an argument ignores. A number in JSON is as good as its digits. */
function isIgnored(value: unknown, { format }: JsonSchema): boolean {
  const of = format === undefined ? undefined : formats[format]
  if (of === undefined || !('ignores' in of)) return false
  return (typeof value === 'string' || typeof value === 'number') && of.ignores!(String(value))
}

function takesEmpty({
  anyOf,
  const: constant,
  enum: choices,
  format,
  minLength = 0,
  type,
}: JsonSchema): boolean {
  if (anyOf) return anyOf.some(takesEmpty)
  if (constant !== undefined) return constant === ''
  if (choices) return choices.includes('')
  if (type !== 'string') return type === undefined || type === 'array'
  const of = format === undefined ? undefined : formats[format]
  return minLength === 0 && (of?.type === 'number' || of?.test('') !== false)
}

interface Taking {
  readonly isUnsent: IsUnsent
  readonly result: Read
}

/** What is sent of a value, and what the schema has of it. Names the rest. */
function sentPart(value: unknown, schema: JsonSchema, label: string, { isUnsent, result }: Taking): unknown {
  if (isObject(value)) return sentMembers(value, schema, label, isUnsent, result.ignored)
  const { items } = schema
  if (!Array.isArray(value) || items === undefined || membersOf(items) === undefined) return value
  const ignored: string[] = []
  const sent = value.map(item =>
    isObject(item) ? sentMembers(item, items, `${label}[]`, isUnsent, ignored) : item,
  )
  for (const name of new Set(ignored)) result.ignored.push(name)
  return sent
}

/** @param ignored gets the names of members without a value, and of those that the schema does not have */
function sentMembers(
  value: Parameters,
  schema: JsonSchema,
  label: string,
  isUnsent: IsUnsent,
  ignored: string[],
): Parameters {
  // What it does not have is refused.
  if (schema.additionalProperties === false) return value
  const known = membersOf(schema)
  const isLeftOut = (name: string) =>
    (known && !Object.hasOwn(known, name)) || isUnsent(value[name], known?.[name] ?? {})
  const leftOut = Object.keys(value).filter(isLeftOut)
  if (leftOut.length === 0) return value
  for (const name of leftOut) ignored.push(`${label}[${name}]`)
  return Object.fromEntries(Object.entries(value).filter(([name]) => !isLeftOut(name)))
}

/**
 * Adds what a check finds to what the schemas have found. Arguments that failed their schema are absent for the check,
 * which would report them as missing.
 */
export async function addFound(
  problems: Problems,
  found: Problems | Promise<Problems> | undefined,
): Promise<void> {
  Object.assign(problems, { ...(await found), ...problems })
}

/** @throws Failure if anything is missing or invalid */
export function refuse(missing: string[], problems: Problems): void {
  if (missing.length > 0) throw missingArguments(missing)
  if (Object.keys(problems).length > 0) throw invalidArguments(problems)
}

function filterOf(source: Parameters): Parameters {
  return isObject(source.filter) ? source.filter : {}
}

/** The members that an object may have; undefined if it may have any, or no object is accepted. */
const membersOf = ({ anyOf = [], properties }: JsonSchema): JsonSchema['properties'] =>
  properties ?? anyOf.find(option => option.properties)?.properties

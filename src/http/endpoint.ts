/**
 * An endpoint is declared once: method, path, permission, arguments, answer, summary. Routing, validation, types,
 * OPTIONS, OpenAPI and the reference page all come from the declaration.
 * See docs/decisions/one-declaration.md.
 */
import type { Static, TObject, TProperties } from 'typebox'
import type { Failure, FailureName, Problems } from '../base/errors.ts'
import { memberOf } from '../base/unknown.ts'
import type { RequestContext } from '../events/write.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** By which a collection creates, and by which an item is edited: all that AffiliateWP takes for it. */
export const CREATE: readonly Method[] = ['POST', 'PUT', 'PATCH']
export const EDIT: readonly Method[] = ['POST', 'PATCH', 'PUT']
type Action = 'read' | 'create' | 'edit' | 'delete'
export type Permission = `${string}.${Action}`

/** What a handler answers with. */
export interface Answer {
  readonly status: 200 | 201
  /** One JSON text, or its pieces when it is too long to be made at once. */
  readonly body: string | AsyncIterable<string>
  readonly headers?: Record<string, string>
  /** Set-Cookie headers. */
  readonly cookies?: readonly string[]
}

/** What a handler knows of the request beside its arguments. */
export interface Call extends RequestContext {
  /** The same call for reading what may take long: in turn with other callers, and within the request's budget. */
  readonly patient: Call
  /**
   * To be called before the first query of a long list.
   * @throws Failure too_many_streams, overloaded
   */
  beginStream(): void
  /** URL of the resource's collection, as this client reached it. */
  readonly collectionUrl: string
  /** The query string as it was sent, without '?'. */
  readonly query: string
  readonly base: string
  /** The Cookie header. */
  readonly cookies: string | undefined
  /** What the client says that it is. */
  readonly userAgent: string | undefined
  /** Whether the client reached the service by TLS. */
  readonly secure: boolean
}

/** How an endpoint takes many at once: the same body as one has, a line each (NDJSON). See docs/decisions/lines.md. */
export interface Lines {
  /** What is answered for a line that was done, as JSON Schema. */
  readonly result: TProperties
  /**
   * Does some of the lines in the transaction that the call is part of.
   * @param careful each line by itself, so that one that can't be done leaves the others; else any may fail all
   * @returns what is to be answered for each, in their order
   */
  readonly perform: (call: Call, texts: readonly string[], careful: boolean) => Promise<LineResult[]>
}

/** What a line has led to: members of a JSON object, without its braces. */
export type LineResult = Failure | { readonly status: 200 | 201; readonly members: string }

export interface Endpoint {
  /** The first is the one to recommend; the others do the same. */
  readonly methods: readonly Method[]
  /** Below the base path. `{name}` is an argument: digits, or an e-mail address where it may be one. */
  readonly path: string
  readonly permission: Permission
  readonly summary: string
  readonly arguments: TObject
  /** What the answer looks like, as JSON Schema. */
  readonly answer: { readonly status: 200 | 201; readonly schema: object }
  /** The failures that this endpoint can end in, beyond those of every endpoint. */
  readonly failures: readonly FailureName[]
  // These three are methods, so that one that takes the arguments of its own schema is an endpoint as well.
  handle(call: Call, args: unknown, prepared?: unknown): Promise<Answer>
  /** What takes too long for a transaction, and is done before there is one; `handle` is given its result. */
  prepare?(call: Call, args: unknown): Promise<unknown>
  /** Reads few rows by an index, or finds out by itself whether it may take long: is not read in turn with other callers. */
  readonly quick?: true
  /** Of the largest request body, where it is larger than others. */
  readonly bodyLimitBytes?: number
  /** Hashes a password, whoever asks: few at once are let in, and what they take says nothing of the load. */
  readonly hashes?: true
  /** Done in several transactions, so that no answer can be kept with its effect: an Idempotency-Key is refused. */
  readonly inParts?: true
  /** Arguments that it does not know, or that have no value, are refused: without them it would do more than is meant. */
  readonly strict?: true
  readonly lines?: Lines | undefined
  /** Takes nothing but lines. */
  readonly onlyLines?: true
  /**
   * What the rules find wrong with the arguments that passed their schemas. Asked only when others did not, so
   * that the caller hears of every wrong argument at once.
   */
  check?(call: Call, args: unknown): Promise<Problems>
}

interface Declaration<P extends TProperties, T>
  extends Omit<Endpoint, 'arguments' | 'handle' | 'prepare' | 'check' | 'failures'> {
  readonly arguments: TObject<P>
  readonly failures?: readonly FailureName[]
  readonly handle: (call: Call, args: Static<TObject<P>>, prepared: T) => Promise<Answer>
  readonly prepare?: (call: Call, args: Static<TObject<P>>) => Promise<T>
  readonly check?: (call: Call, args: Partial<Static<TObject<P>>>) => Promise<Problems>
}

export function endpoint<P extends TProperties, T>(declaration: Declaration<P, T>): Endpoint {
  return { failures: [], ...declaration }
}

const DIGITS = '\\d+'
/** Digits, or an e-mail address as a URL may write it. */
const DIGITS_OR_ADDRESS = '(?:\\d+|[^/]*(?:@|%40)[^/]*)'

/** What an argument in a path may look like in a URL, as a regular expression. */
export function segmentOf(endpoints: readonly Pick<Endpoint, 'arguments'>[], name: string): string {
  const schemas = endpoints.map(({ arguments: { properties } }) => properties[name])
  return schemas.some(schema => memberOf(schema, 'anyOf')) ? DIGITS_OR_ADDRESS : DIGITS
}

/** The names of the arguments that an endpoint's path has, in its order. */
export function inPath({ path }: Pick<Endpoint, 'path'>): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1]!)
}

/** A kind of record with its endpoints. `app.ts` lists them all. */
export interface Resource {
  /** The first segment of its paths; of its permissions too, where it has no hyphen, which is an underscore there. */
  readonly name: string
  readonly title: string
  /** The schema of one record, its fields in the order in which they are shown. */
  readonly record: TObject
  /** The failure of an item that is not there. */
  readonly missing: FailureName
  readonly endpoints: readonly Endpoint[]
  /** Fields that follow from other records; If-Match does not compare them. They are numbers or plain text. */
  readonly derived?: readonly string[]
  /**
   * Answers to writes are kept and replayed to an Idempotency-Key. Not where what is sent or answered holds a secret:
   * there a key is refused.
   */
  readonly replayed?: boolean
}

/**
 * Declaration of an endpoint: method, path, permission, arguments, answer, summary. Routing, validation, types,
 * OPTIONS, OpenAPI and the reference page are all derived from it.
 * See docs/decisions/one-declaration.md.
 */
import type { IncomingHttpHeaders } from 'node:http'
import type { Static, TObject, TProperties } from 'typebox'
import type { Failure, FailureName, Problems } from '../base/errors.ts'
import { memberOf } from '../base/unknown.ts'
import type { Context, RequestContext } from '../events/write.ts'
import type { Tx } from '../storage/database.ts'
import type { AnswerHeader, AnswerHeaders } from './headers.ts'

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE'

/** Methods that create in a collection or edit an item: all that AffiliateWP accepts. */
export const CREATE: readonly Method[] = ['POST', 'PUT', 'PATCH']
export const EDIT: readonly Method[] = ['POST', 'PATCH', 'PUT']
type Action = 'read' | 'create' | 'edit' | 'delete'
export type Permission = `${string}.${Action}`

/** The response of a handler. */
export interface Answer {
  readonly status: 200 | 201
  /** JSON text, or its pieces when it is too long to build at once. */
  readonly body: string | AsyncIterable<string>
  readonly headers?: Readonly<AnswerHeaders>
  /** Set-Cookie headers. */
  readonly cookies?: readonly string[]
}

/** The request as handlers see it, beside its arguments. */
export interface Call extends RequestContext {
  /** The same call for long reads: they take turns with other callers, within the request's time budget. */
  readonly patient: Call
  /**
   * Must be called before the first query of a long list.
   * @throws Failure too_many_streams, overloaded
   */
  beginStream(): void
  /** URL of the resource's collection, as this client reaches it. */
  readonly collectionUrl: string
  /** The query string as it was sent, without '?'. */
  readonly query: string
  readonly base: string
  /** The Cookie header. */
  readonly cookies: string | undefined
  /** The User-Agent header. */
  readonly userAgent: string | undefined
  /** Whether the client uses TLS. */
  readonly secure: boolean
  /** Whether the client gets the body of the answer, and not only its headers (HEAD). */
  readonly getsBody: boolean
}

/** Batch form of an endpoint: NDJSON, one line per body of a single request. See docs/decisions/lines.md. */
export interface Lines {
  /** JSON Schema of a successful line's result. */
  readonly result: TProperties
  /**
   * Processes some of the lines, in the call's transaction.
   * @param careful isolates each line, so that one failure leaves the others intact; otherwise any failure rolls back
   * all
   * @returns one result per line, in order
   */
  readonly perform: (
    call: Call,
    texts: readonly string[],
    careful: boolean,
    shared?: Shared,
  ) => Promise<LineResult[]>
  /** What the lines of a request share. */
  readonly share?: (() => Shared) | undefined
}

/** What the lines of a request have read, so that not each of them reads it again. */
export interface Shared {
  /** A transaction begins, or is run again. */
  begin(): void
  /** The transaction is committed. */
  committed(): void
  /** Reads what the next line needs, outside the savepoint that its failure would roll back. */
  lock(tx: Tx, args: unknown): Promise<void>
  /** That line has failed. */
  takeBack(): void
}

/** Result of a line: a failure, or members of a JSON object without its braces. */
export type LineResult = Failure | { readonly status: 200 | 201; readonly members: string }

export interface Endpoint {
  /** The recommended method first; the others are aliases. */
  readonly methods: readonly Method[]
  /**
   * Relative to the base path. `{name}` is an argument: digits, or an e-mail address where the endpoint accepts one.
   */
  readonly path: string
  readonly permission: Permission
  readonly summary: string
  readonly arguments: TObject
  readonly answer: {
    readonly status: 200 | 201
    /** The response's JSON Schema. */
    readonly schema: object
    /** Headers that the handler sets, where there is something to say by them. */
    readonly headers?: readonly AnswerHeader[]
    /** Media types of the response, if it is not JSON. */
    readonly types?: readonly string[]
    /** What was created by an earlier request is answered again, with the status 200. */
    readonly repeats?: true
  }
  /** Failures specific to this endpoint, beyond those of every endpoint. */
  readonly failures: readonly FailureName[]
  // Methods rather than function properties, so that an implementation may narrow the type of its arguments.
  handle(call: Call, args: unknown, prepared?: unknown): Promise<Answer>
  /** Slow work that must not hold a transaction; runs before it, and `handle` gets the result. */
  prepare?(call: Call, args: unknown): Promise<unknown>
  /**
   * Reads few rows by an index, or decides itself whether a read may be long: does not take turns with other callers.
   */
  readonly quick?: true
  /** Largest request body, if it differs from the default. */
  readonly bodyLimitBytes?: number
  /** Hashes a password for anyone who asks: concurrency is limited, and its duration says nothing about the load. */
  readonly hashes?: true
  /**
   * Uses several transactions, so that the answer cannot be stored along with the effect: refuses an Idempotency-Key.
   */
  readonly inParts?: true
  /** Refuses unknown arguments and those without a value, since ignoring one would act on more than intended. */
  readonly strict?: true
  readonly lines?: Lines | undefined
  /** Accepts lines only. */
  readonly onlyLines?: true
  /**
   * Checks beyond the schemas, for arguments that passed them. Runs together with schema validation, so that
   * the caller learns of every invalid argument at once.
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

/** Declares an endpoint: its functions get arguments of the type that its schema describes, and `check` those that passed it. */
export function endpoint<P extends TProperties, T>(declaration: Declaration<P, T>): Endpoint {
  return { failures: [], ...declaration }
}

/** What an endpoint declares that answers with the record that it has created, and the address of it. */
export const createdAnswer = (schema: object) => ({ status: 201, schema, headers: ['Location'] }) as const

const DIGITS = '\\d+'
/** Digits, or an e-mail address in URL encoding. */
const DIGITS_OR_ADDRESS = '(?:\\d+|[^/]*(?:@|%40)[^/]*)'

/** Regular expression for a path argument in a URL, as it is encoded there. */
export function segmentOf(endpoints: readonly Pick<Endpoint, 'arguments'>[], name: string): string {
  const schemas = endpoints.map(({ arguments: { properties } }) => properties[name])
  return schemas.some(schema => memberOf(schema, 'anyOf')) ? DIGITS_OR_ADDRESS : DIGITS
}

/** Whether a body is read. That of a deletion says what is to be deleted, so it must not be passed over. */
export const takesBody = ({ methods }: Pick<Endpoint, 'methods'>): boolean => !methods.includes('GET')

/** Argument names in an endpoint's path, in order. */
export function inPath({ path }: Pick<Endpoint, 'path'>): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(match => match[1]!)
}

/** A body that its sender has signed, as it arrived. */
interface SignedRequest {
  readonly headers: IncomingHttpHeaders
  readonly body: Buffer
  /** The client's network address; taken from a trusted proxy's header where there is one. */
  readonly address: string
}

/** What describes a route, whoever may call it. */
export type Route = Pick<Endpoint, 'methods' | 'path' | 'summary' | 'arguments'>

/** An endpoint to which bodies are posted that are signed by the secret of a record, in place of an API key. */
export interface SignedEndpoint extends Route, Pick<Endpoint, 'answer' | 'failures'> {
  readonly methods: readonly ['POST']
  /** The header that has the signature, and how that is made. */
  readonly signature: { readonly header: string; readonly description: string }
  /**
   * @param id of the record, in the path
   * @throws Failure wrong_signature
   */
  take(context: Context, id: number, request: SignedRequest): Promise<object>
}

/** A resource with its endpoints. `app.ts` lists them all. */
export interface Resource {
  /** First segment of its paths, and prefix of its permissions (with underscores for hyphens). */
  readonly name: string
  readonly title: string
  /** Schema of one record, its fields in the order of output. */
  readonly record: TObject
  /** The failure for a missing item. */
  readonly missing: FailureName
  readonly endpoints: readonly Endpoint[]
  readonly signed?: readonly SignedEndpoint[]
  /** Fields computed from other records, which If-Match ignores. Numbers or plain text only. */
  readonly derived?: readonly string[]
  /**
   * Whether answers to writes are stored and replayed for an Idempotency-Key. Off where request or answer contains a
   * secret: there the header is refused.
   */
  readonly replayed?: boolean
}

/**
 * Calls of the server. When the session has ended, a call waits until the person has logged in again and is then
 * sent once more: what was typed stays where it is.
 */
import { HttpError } from 'react-admin'

export const API = '/admin/api'

export interface Envelope {
  /** What is wrong by field, as forms show it: made of `params`. */
  errors?: Record<string, unknown>
  code: string
  message: string
  data: {
    status: number
    params?: Record<string, string> | string[]
    first_visit?: boolean
    recovers?: boolean
    retry_after?: number
  }
}

export interface Answer<T> {
  body: T
  headers: Headers
}

interface Options {
  body?: unknown
  /** Names a write, so that the server does it once however often it is sent. */
  idempotencyKey?: string
  /** The ETag of the record that a write is meant for. */
  ifMatch?: string
  /** A 401 is an answer and not the end of a session: for logging in and for asking whether there is one. */
  anonymous?: boolean
  signal?: AbortSignal
}

let logInAgain: (() => Promise<void>) | undefined

/** @param handler resolves when there is a session again */
export function onSessionEnd(handler: () => Promise<void>): void {
  logInAgain = handler
}

/** @throws HttpError with the server's envelope as its body, and `errors` by field for forms */
export async function request<T>(method: string, path: string, options: Options = {}): Promise<Answer<T>> {
  const { ok, status, headers, body } = await exchange(method, path, options)
  // Cast: what is answered to whom is in the types of the server, which the pages take `T` from.
  if (ok) return { body: body as T, headers }
  if (status === 401 && !options.anonymous && logInAgain) {
    await logInAgain()
    return request(method, path, options)
  }
  throw failureOf(status, body, status < 500 ? '' : unknownOutcome(method, options))
}

export async function get<T>(path: string, options?: Options): Promise<T> {
  return (await request<T>('GET', path, options)).body
}

/** An argument as the server describes it: its schema. */
type Argument = { enum?: string[]; items?: Argument }

interface Description {
  endpoints: { methods: string[]; args: Record<string, Argument> }[]
}

/** @returns what a path takes when it is read, by name */
export async function describe(path: string): Promise<Record<string, Argument>> {
  const { endpoints } = (await request<Description>('OPTIONS', path)).body
  return endpoints.find(({ methods }) => methods.includes('GET'))?.args ?? {}
}

/** The texts that an argument may be, or that may be in it. */
export const choicesOf = (argument?: Argument): string[] => argument?.enum ?? argument?.items?.enum ?? []

/** The paths that the server answers below one, such as 'exports'. */
export async function pathsBelow(part: string): Promise<string[]> {
  const { routes } = await get<{ routes: Record<string, unknown> }>('')
  const beginning = `${API}/${part}/`
  return Object.keys(routes).flatMap(path => (path.startsWith(beginning) ? path.slice(beginning.length) : []))
}

async function exchange(method: string, path: string, options: Options) {
  const { body, signal, idempotencyKey, ifMatch } = options
  try {
    const response = await fetch(`${API}/${path}`, {
      method,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        ...(method !== 'GET' && { 'x-admin-request': '1' }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
        ...(ifMatch && { 'if-match': ifMatch }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    const { ok, status, headers } = response
    return { ok, status, headers, body: await bodyOf(response) }
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw failureOf(0, { message: `No answer came from the server. ${unknownOutcome(method, options)}` }, '')
  }
}

/** What to do when there is no knowing what became of a request: only its answer may have been lost. */
function unknownOutcome(method: string, { idempotencyKey, anonymous }: Options): string {
  if (method === 'GET' || anonymous) return 'Try again in a moment.'
  if (idempotencyKey) {
    return 'It may have been saved. Save again without changing anything: it is not saved twice.'
  }
  return 'What you did may have been saved: look before you do it again.'
}

/**
 * Keys for what one form sends: as long as it sends the same, it is the same key. They are remembered for all that
 * was sent, since a form may be changed and changed back.
 */
export function newIdempotencyKeys(): (body: unknown) => string {
  const keys = new Map<string, string>()
  return body => {
    const text = JSON.stringify(body)
    if (!keys.has(text)) keys.set(text, newKey())
    return keys.get(text)!
  }
}

/** Not `randomUUID`, which browsers only have where there is TLS. */
function newKey(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(16))
  return Array.from(bytes, byte => byte.toString(16).padStart(2, '0')).join('')
}

async function bodyOf(response: Response): Promise<unknown> {
  const text = await response.text()
  try {
    return text === '' ? undefined : JSON.parse(text, exact)
  } catch {
    return undefined
  }
}

/** Sums can have more digits than a JavaScript number holds: those stay the text that the server wrote. */
function exact(_name: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  return typeof value === 'number' && value > 1e12 && source && String(value) !== source ? source : value
}

/** What a form says beside its buttons when what is wrong stands at its fields. */
export const AT_THE_FIELDS = 'Nothing was saved yet: what is wrong is written at the field in red.'

const isEnvelope = (body: unknown): body is Partial<Envelope> => typeof body === 'object' && body !== null

/** What the server says of a request that it refused. */
export function envelopeOf(error: unknown): Partial<Envelope> {
  return error instanceof HttpError && isEnvelope(error.body) ? error.body : {}
}

/** @param outcome what to say when it was not the service that answered, but something before it */
function failureOf(status: number, body: unknown, outcome: string): HttpError {
  const envelope = isEnvelope(body) ? body : {}
  const message = envelope.message ?? `The server answered ${status}. ${outcome}`.trim()
  return new HttpError(message, status, { ...envelope, errors: errorsOf(envelope.data?.params, message) })
}

/** What is wrong by field, as forms show it. What is about no field stands at the form's end. */
function errorsOf(params: Envelope['data']['params'], message: string): Record<string, unknown> {
  const fields = Array.isArray(params)
    ? params.map(name => [name, 'Fill this in.'])
    : Object.entries(params ?? {})
  const byField = fields.map(([name, reason]) => [name, sentence(String(reason))])
  return {
    ...Object.fromEntries(byField),
    root: { serverError: byField.length > 0 ? AT_THE_FIELDS : message },
  }
}

function sentence(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1)
}

/** How a list is sorted, in the names of the API. */
export const orderOf = ({ field, order }: { field: string; order: string }) => ({
  orderby: field,
  order: order.toLowerCase(),
})

/** The query string of a list, in the names of the API; empty values are left out. */
export function queryOf(args: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(args)) append(query, name, value)
  return query.toString()
}

function append(query: URLSearchParams, name: string, value: unknown): void {
  if (value === undefined || value === null || value === '') return
  if (Array.isArray(value)) query.append(name, value.join(','))
  else if (typeof value === 'object') {
    for (const [key, part] of Object.entries(value)) append(query, `${name}[${key}]`, part)
  } else query.append(name, String(value))
}

/** Starts a download, after making sure that there is a session to do it with. */
export async function download(url: string): Promise<void> {
  await get('session')
  const link = document.createElement('a')
  link.href = url
  link.download = ''
  link.click()
}

/** What is wrong, in a sentence or some, where no field can say it. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return 'Something went wrong.'
  const { params } = envelopeOf(error).data ?? {}
  if (!params || Array.isArray(params)) return error.message
  return Object.entries(params)
    .map(([name, reason]) => `${sentence(lastPart(name).replaceAll('_', ' '))}: ${reason}`)
    .join(' ')
}

/** 'rule[conditions]' is the conditions to whom writes a rule. */
const lastPart = (name: string) => name.replace(/^.*\[(\w+)\]$/, '$1')

/**
 * Calls to the server. When the session has expired, a call waits until the user has logged in again and is then
 * repeated, so that unsaved input is not lost.
 */
import { HttpError } from 'react-admin'

export const API = '/admin/api'

export interface Envelope {
  /** Validation errors by field, as forms show them; derived from `params`. */
  errors?: Record<string, unknown>
  /** What a form goes on with after a conflict with somebody else; its fields keep what was typed. */
  goOn?: { id: number }
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
  /** Idempotency key of a write: the server performs it once, however often it is sent. */
  idempotencyKey?: string
  /** The ETag of the record that the write is based on. */
  ifMatch?: string
  /**
   * A 401 is an ordinary answer rather than an expired session: for logging in, and for checking whether there is a
   * session.
   */
  anonymous?: boolean
  signal?: AbortSignal
  /** How the body is read of an answer that is no failure; as JSON otherwise. */
  read?: (response: Response) => Promise<unknown>
}

let logInAgain: (() => Promise<void>) | undefined

/** @param handler resolves when there is a session again */
export function onSessionEnd(handler: () => Promise<void>): void {
  logInAgain = handler
}

/** @throws HttpError with the server's envelope as its body, and `errors` by field for forms */
export async function request<T>(method: string, path: string, options: Options = {}): Promise<Answer<T>> {
  const { ok, status, headers, body } = await exchange(method, path, options)
  // Cast: callers take `T` from the server's own types.
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

/** JSON schema of an argument, as the server describes it. */
type Argument = { enum?: string[]; items?: Argument }

interface Description {
  endpoints: { methods: string[]; args: Record<string, Argument> }[]
}

/** @returns the arguments of GET on a path, by name */
export async function describe(path: string): Promise<Record<string, Argument>> {
  const { endpoints } = (await request<Description>('OPTIONS', path)).body
  return endpoints.find(({ methods }) => methods.includes('GET'))?.args ?? {}
}

/** The values that an argument, or each item of a list argument, may have. */
export const choicesOf = (argument?: Argument): string[] => argument?.enum ?? argument?.items?.enum ?? []

/** The paths below a part of the interface, such as 'exports'. */
export async function pathsBelow(part: string): Promise<string[]> {
  const { routes } = await get<{ routes: Record<string, unknown> }>('')
  const beginning = `${API}/${part}/`
  return Object.keys(routes).flatMap(path => (path.startsWith(beginning) ? path.slice(beginning.length) : []))
}

const isReading = (method: string) => method === 'GET' || method === 'HEAD'

async function exchange(method: string, path: string, options: Options) {
  const { body, signal, idempotencyKey, ifMatch } = options
  try {
    const response = await fetch(`${API}/${path}`, {
      method,
      credentials: 'same-origin',
      headers: {
        accept: 'application/json',
        ...(!isReading(method) && { 'x-admin-request': '1' }),
        ...(body !== undefined && { 'content-type': 'application/json' }),
        ...(idempotencyKey && { 'idempotency-key': idempotencyKey }),
        ...(ifMatch && { 'if-match': ifMatch }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
      ...(signal && { signal }),
    })
    const { ok, status, headers } = response
    const read = (ok && options.read) || bodyOf
    return { ok, status, headers, body: await read(response) }
  } catch (cause) {
    if (cause instanceof DOMException && cause.name === 'AbortError') throw cause
    throw failureOf(0, { message: `No answer came from the server. ${unknownOutcome(method, options)}` }, '')
  }
}

/** Advice when the answer was lost, so that nobody knows whether the request was carried out. */
function unknownOutcome(method: string, { idempotencyKey, anonymous }: Options): string {
  if (isReading(method) || anonymous) return 'Try again in a moment.'
  if (idempotencyKey) {
    return 'It may have been saved. Save again without changing anything: it is not saved twice.'
  }
  return 'What you did may have been saved: look before you do it again.'
}

/**
 * Idempotency keys of one form: the same input gets the same key. All inputs are remembered, since a form may be changed
 * and changed back.
 */
export function newIdempotencyKeys(): (body: unknown) => string {
  const keys = new Map<string, string>()
  return body => {
    const text = JSON.stringify(body)
    if (!keys.has(text)) keys.set(text, newKey())
    return keys.get(text)!
  }
}

/** Not `randomUUID`: browsers offer it on secure (TLS) pages only. */
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

/** Keeps a number as text when it has more digits than a JavaScript number holds. */
function exact(_name: string, value: unknown, context?: { source?: string }): unknown {
  const source = context?.source
  return typeof value === 'number' && value > 1e12 && source && String(value) !== source ? source : value
}

/** Shown at the form's buttons when the errors are at its fields. */
export const AT_THE_FIELDS = 'Not saved: see the message at the field.'

const isEnvelope = (body: unknown): body is Partial<Envelope> => typeof body === 'object' && body !== null

/** The server's description of a failed request. */
export function envelopeOf(error: unknown): Partial<Envelope> {
  return error instanceof HttpError && isEnvelope(error.body) ? error.body : {}
}

/** @param outcome advice for answers that did not come from the service, but from something in front of it */
function failureOf(status: number, body: unknown, outcome: string): HttpError {
  const envelope = isEnvelope(body) ? body : {}
  const message = envelope.message ?? `The server answered ${status}. ${outcome}`.trim()
  return new HttpError(message, status, { ...envelope, errors: errorsOf(envelope.data?.params, message) })
}

/**
 * Validation errors by field, as forms show them. An error that belongs to no field is shown at the end of the form.
 */
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

/** Sort parameters of a list, in the names of the API. */
export const orderOf = ({ field, order }: { field: string; order: string }) => ({
  orderby: field,
  order: order.toLowerCase(),
})

/** Query string of a list, in the names of the API; empty values are left out. */
export function queryOf(args: Record<string, unknown>): string {
  const query = new URLSearchParams()
  for (const [name, value] of Object.entries(args)) append(query, name, value)
  return query.toString()
}

function append(query: URLSearchParams, name: string, value: unknown): void {
  if (value === undefined || value === null || value === '') return
  if (Array.isArray(value)) appendAll(query, name, value)
  else if (typeof value === 'object') {
    for (const [key, part] of Object.entries(value)) append(query, `${name}[${key}]`, part)
  } else query.append(name, String(value))
}

/** The short notation for numbers alone: it divides a text at its commas, and takes the blanks off its ends. */
function appendAll(query: URLSearchParams, name: string, values: readonly unknown[]): void {
  if (values.every(value => typeof value === 'number')) query.append(name, values.join(','))
  else for (const value of values) query.append(`${name}[]`, String(value))
}

/**
 * Starts a download, after asking whether there is a session and a file: of what fails after that the browser tells the page
 * nothing.
 */
export async function download(url: string): Promise<void> {
  await get('session')
  const path = url.slice(API.length + 1)
  // Without a body it does not say why: the same question with one does.
  if (!(await exchange('HEAD', path, {})).ok) await get(path)
  save(url, '')
}

/** Downloads a file that takes the server long, and the page little room: it asks once, and keeps the file until it is saved. */
export async function downloadAtOnce(url: string): Promise<void> {
  const { body, headers } = await request<Blob>('GET', url.slice(API.length + 1), {
    read: response => response.blob(),
  })
  const [, name = ''] = headers.get('content-disposition')?.match(/filename="([^"]+)"/) ?? []
  const kept = URL.createObjectURL(body)
  save(kept, name)
  setTimeout(() => URL.revokeObjectURL(kept), KEPT_MS)
}

/** Some browsers begin to save a file some time after they are asked to. */
const KEPT_MS = 60_000

/** @param name '' for the one that the server says */
function save(address: string, name: string): void {
  const link = document.createElement('a')
  link.href = address
  link.download = name
  link.click()
}

/** The error as text, for errors that no field can show. */
export function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return 'Something went wrong.'
  const { params } = envelopeOf(error).data ?? {}
  if (!params || Array.isArray(params)) return error.message
  return Object.entries(params)
    .map(([name, reason]) => `${sentence(lastPart(name).replaceAll('_', ' '))}: ${reason}`)
    .join(' ')
}

/** Errors in rules name nested arguments: 'rule[conditions]' is the field 'conditions' of the form. */
const lastPart = (name: string) => name.replace(/^.*\[(\w+)\]$/, '$1')

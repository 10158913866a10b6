/** What a conversation is made of: requests as data, with helpers that keep their lists short. */

/** `{name}` in path, headers or body stands for what the answer to an earlier request held. */
export interface Ask {
  readonly method: string
  readonly path: string
  readonly headers: Readonly<Record<string, string>>
  /** An object is sent as JSON. */
  readonly body?: object | string | Buffer
  /** Names a part of the answer: the first group, searched in its lines of status and headers and in its body. */
  readonly keep?: Readonly<Record<string, RegExp>>
  /** The same for what is random, and therefore compared by its name from here on. */
  readonly secret?: Readonly<Record<string, RegExp>>
  /** What may differ from one run to the next. */
  readonly varies?: RegExp
  /** How many times it is sent at once, `{nth}` being different in each; the answers are compared as a set. */
  readonly times?: number
}

export type Step =
  | Ask
  /** Bytes (as Latin-1) on a connection of their own, up to the end of the answer. */
  | { readonly raw: string }
  /** Seconds that the clock goes on. */
  | { readonly pass: number }
  | { readonly sql: string }
  | { readonly database: 'stop' }
  /** Answers that are begun, and not read before the chapter ends. */
  | { readonly unread: Ask }

export interface Chapter {
  readonly name: string
  /** Of `serve`. */
  readonly flags: readonly string[]
  /** Both where it is not said. */
  readonly engine?: 'SQLite' | 'PostgreSQL'
  readonly steps: readonly Step[]
}

type Options = Partial<Omit<Ask, 'method' | 'path'>>

/** @param request such as `GET /affiliates` */
function ask(request: string, base: string, who: Record<string, string>, options: Options): Ask {
  const space = request.indexOf(' ')
  const headers = { ...who, ...options.headers }
  return { ...options, method: request.slice(0, space), path: base + request.slice(space + 1), headers }
}

const bearer = { authorization: 'Bearer {token}' }

/** With an API key that may do everything. */
export const v1 = (request: string, options: Options = {}): Ask => ask(request, '/v1', bearer, options)

/** The same under the other base path. */
export const wordpress = (request: string, options: Options = {}): Ask =>
  ask(request, '/wp-json/affwp/v1', bearer, options)

/** With no key, at any path. */
export const plain = (request: string, options: Options = {}): Ask => ask(request, '', {}, options)

/** In the administration area, as the administrator who logged in. */
export const area = (request: string, options: Options = {}): Ask =>
  ask(
    request,
    '/admin/api',
    {
      cookie: 'affiliated_session={session}',
      ...(!/^(?:GET|HEAD) /.test(request) && { 'x-admin-request': '1' }),
    },
    options,
  )

type Who = typeof v1

/** One GET for each query. */
export const gets = (who: Who, path: string, queries: readonly string[]): Ask[] =>
  queries.map(query => who(`GET ${path}?${query}`))

/** One request for each body. */
export const sends = (who: Who, request: string, bodies: readonly object[]): Ask[] =>
  bodies.map(body => who(request, { body }))

export const form = { 'content-type': 'application/x-www-form-urlencoded' }
export const multipart = { 'content-type': 'multipart/form-data; boundary=xxx' }

/** A body of type multipart/form-data. */
export const parts = (fields: Readonly<Record<string, string>>): string =>
  Object.entries(fields)
    .map(([name, value]) => `--xxx\r\nContent-Disposition: form-data; name="${name}"\r\n\r\n${value}\r\n`)
    .join('')
    .concat('--xxx--\r\n')

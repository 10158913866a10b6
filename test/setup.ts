/** Runs once for all test files: one PostgreSQL server, on which every service has a database of its own. */
import { PostgresServer } from './postgres.ts'

let server: PostgresServer | undefined

export async function globalSetup(): Promise<void> {
  if (process.env.TEST_DATABASE_URL) return
  // What these tests write need not outlive a loss of power.
  server = await PostgresServer.launch(['fsync=off', 'max_connections=300'])
  process.env.TEST_DATABASE_URL = server.url
}

export async function globalTeardown(): Promise<void> {
  await server?.remove()
}

/**
 * Runs once for all test files: one PostgreSQL server, on which every service has a database of its own, and one place
 * for what Node compiled, so that not every process of a test compiles the same sources again.
 */
import { fileURLToPath } from 'node:url'
import { PostgresServer } from './postgres.ts'

let server: PostgresServer | undefined

export async function globalSetup(): Promise<void> {
  process.env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/tests', import.meta.url))
  if (process.env.TEST_DATABASE_URL) return
  // What these tests write need not outlive a loss of power.
  server = await PostgresServer.launch(['fsync=off', 'max_connections=300'])
  process.env.TEST_DATABASE_URL = server.url
}

export async function globalTeardown(): Promise<void> {
  await server?.remove()
}

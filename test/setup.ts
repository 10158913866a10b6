/**
 * Runs once for all test files: one PostgreSQL server, on which every service has a database of its own; of each engine
 * a database that has its tables, so that not every service makes them again; and one place for what Node compiled, so
 * that not every process of a test compiles the same sources again.
 */
import { statfsSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { openDatabase } from '../src/storage/open.ts'
import { temporaryFolder } from './folder.ts'
import { freshDatabase, PostgresServer } from './postgres.ts'

const IN_MEMORY = '/dev/shm'
const NEEDED_BYTES = 4 * 2 ** 30

/** Nothing here has to outlive a crash or to reach a replica: tests of that have servers of their own. */
const SETTINGS = [
  'max_connections=300',
  'fsync=off',
  'full_page_writes=off',
  'wal_level=minimal',
  'max_wal_senders=0',
  'max_wal_size=4GB',
  'autovacuum=off',
]

const ends: (() => Promise<void>)[] = []

export async function globalSetup(): Promise<void> {
  try {
    await setUp()
  } catch (error) {
    // Nobody tears down what was not set up.
    await globalTeardown()
    throw error
  }
}

async function setUp(): Promise<void> {
  const { env } = process
  // What these tests write need not outlive a loss of power, and a busy disk holds up every commit.
  if (hasRoom(IN_MEMORY)) env.TMPDIR = IN_MEMORY
  env.NODE_COMPILE_CACHE ??= fileURLToPath(new URL('../node_modules/.cache/tests', import.meta.url))
  if (!env.TEST_DATABASE_URL) {
    const server = await PostgresServer.launch(SETTINGS)
    ends.push(() => server.remove())
    env.TEST_DATABASE_URL = server.url
  }
  const database = await freshDatabase(env.TEST_DATABASE_URL)
  ends.push(database.remove)
  await migrated(database.url)
  env.TEST_TEMPLATE_DATABASE = new URL(database.url).pathname.slice(1)
  const folder = await temporaryFolder()
  ends.push(folder.remove)
  env.TEST_TEMPLATE_FILE = join(folder.path, 'template.db')
  await migrated(`sqlite:${env.TEST_TEMPLATE_FILE}`)
}

export async function globalTeardown(): Promise<void> {
  for (const end of ends.toReversed()) await end()
}

function hasRoom(folder: string): boolean {
  try {
    const { bavail, bsize } = statfsSync(folder)
    return bavail * bsize >= NEEDED_BYTES
  } catch {
    return false
  }
}

async function migrated(url: string): Promise<void> {
  const database = await openDatabase(url, [])
  await database.close()
}

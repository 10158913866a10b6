/** Whether the database has the tables, indexes and triggers that this program makes, and no others. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Database } from '../../storage/database.ts'
import { openWithoutKey } from '../../storage/open.ts'
import { objectsOf } from './store.ts'

/** Compared with a new embedded database; definitions only where the engine keeps what was written. */
export async function objectProblems(database: Database): Promise<string[]> {
  const [wanted, there] = [await wantedObjects(database), await objectsOf(database)]
  const problems: string[] = []
  for (const [name, definition] of wanted) {
    const own = there.get(name)
    if (own === undefined && isShared(name)) problems.push(`Schema: ${name} is missing; restore a backup.`)
    else if (own && own !== definition) problems.push(`Schema: ${name} was changed; restore a backup.`)
  }
  for (const [name, definition] of there) {
    if (definition !== null && !wanted.has(name)) {
      problems.push(`Schema: ${name} was added beside the service; remove it.`)
    }
  }
  return problems

  /** Each engine has triggers of its own to keep the log, which are looked at by name. */
  function isShared(name: string): boolean {
    return !/^CREATE TRIGGER/i.test(wanted.get(name) ?? '')
  }
}

async function wantedObjects({ schema }: Database): Promise<Map<string, string | null>> {
  const folder = await mkdtemp(join(tmpdir(), 'affiliated-check-'))
  try {
    const fresh = await openWithoutKey(`sqlite:${join(folder, 'new.db')}`, schema)
    try {
      return await objectsOf(fresh)
    } finally {
      await fresh.close()
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

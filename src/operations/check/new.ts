/** What a new database has and says, to compare one with that is in use. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Settings } from '../../base/settings.ts'
import { loadSettings } from '../../settings/rules.ts'
import type { Database, SchemaObject } from '../../storage/database.ts'
import { openWithoutKey } from '../../storage/open.ts'

interface New {
  readonly objects: readonly SchemaObject[]
  readonly settings: Settings
}

/** As one of the same engine would be; it is the embedded one that is made, because that needs nobody's leave. */
export async function asNew({ engine, schema }: Database): Promise<New> {
  const folder = await mkdtemp(join(tmpdir(), 'affiliated-check-'))
  try {
    const fresh = await openWithoutKey(`sqlite:${join(folder, 'new.db')}`, schema)
    try {
      const objects = engine.wantedObjects ?? (await objectsOf(fresh))
      return { objects, settings: await loadSettings(fresh.reader) }
    } finally {
      await fresh.close()
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** All that there is of the program's tables. */
export function objectsOf({ engine, reader, schema }: Database): Promise<SchemaObject[]> {
  return engine.objects(reader, [...schema.map(({ name }) => name), 'schema_version'])
}

/** Names what is missing, was changed or was added. */
export function differencesOf(wanted: readonly SchemaObject[], there: readonly SchemaObject[]): string[] {
  const definitions = new Map(there.map(({ name, definition }) => [name, definition]))
  const names = new Set(wanted.map(({ name }) => name))
  const changed = wanted.flatMap(({ name, definition }) => {
    const own = definitions.get(name)
    if (own === definition) return []
    if (own === undefined) return [`Schema: ${name} is missing; restore a backup.`]
    return [`Schema: ${name} was changed: it is "${own}", and must be "${definition}"; restore a backup.`]
  })
  const added = there.filter(({ name }) => !names.has(name))
  return [...changed, ...added.map(({ name }) => `Schema: ${name} was added beside the service; remove it.`)]
}

/** The schema and settings of a new database, for comparison. */
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Settings } from '../../base/settings.ts'
import { loadSettings } from '../../settings/rules.ts'
import type { Database, SchemaObject } from '../../storage/database.ts'
import { openWithoutKey } from '../../storage/open.ts'
import type { Schema } from '../../storage/table.ts'

interface New {
  readonly objects: readonly SchemaObject[]
  readonly settings: Settings
}

/** They follow from the program alone, so one database is made for as many checks as the process does. */
const made = new WeakMap<Schema, Promise<New>>()

export async function asNew({ engine, schema }: Database): Promise<New> {
  const making = made.get(schema) ?? ofNewDatabase(schema)
  made.set(schema, making)
  try {
    const { objects, settings } = await making
    return { objects: engine.wantedObjects ?? objects, settings }
  } catch (error) {
    made.delete(schema)
    throw error
  }
}

/** Built on the embedded engine, which needs no server and no permissions. */
export async function ofNewDatabase(schema: Schema): Promise<New> {
  const folder = await mkdtemp(join(tmpdir(), 'affiliated-check-'))
  try {
    const newDatabase = await openWithoutKey(`sqlite:${join(folder, 'new.db')}`, schema)
    try {
      return { objects: await objectsOf(newDatabase), settings: await loadSettings(newDatabase.reader) }
    } finally {
      await newDatabase.close()
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** Every object of the program's tables. */
export function objectsOf({ engine, reader, schema }: Database): Promise<SchemaObject[]> {
  return engine.objects(reader, [...schema.map(({ name }) => name), 'schema_version'])
}

/** Describes each object that is missing, was changed or was added. */
export function differencesOf(wanted: readonly SchemaObject[], present: readonly SchemaObject[]): string[] {
  const definitions = new Map(present.map(({ name, definition }) => [name, definition]))
  const names = new Set(wanted.map(({ name }) => name))
  const changes = wanted.flatMap(({ name, definition }) => {
    const presentDefinition = definitions.get(name)
    if (presentDefinition === definition) return []
    if (presentDefinition === undefined) return [`Schema: ${name} is missing; restore a backup.`]
    const [is, must] = aroundDifference(presentDefinition, definition)
    return [`Schema: ${name} was changed: it is "${is}", and must be "${must}"; restore a backup.`]
  })
  const additions = present.filter(({ name }) => !names.has(name))
  return [
    ...changes,
    ...additions.map(({ name }) => `Schema: ${name} was added beside the service; remove it.`),
  ]
}

/** Of two definitions, which may list many columns: what differs, with what stands before and after it. */
function aroundDifference(one: string, other: string): string[] {
  const lists = [one, other].map(text => text.split(', '))
  const [parts = [], others = []] = lists
  const shorter = Math.min(parts.length, others.length)
  let start = 0
  while (start < shorter && parts[start] === others[start]) start += 1
  let end = 0
  while (end < shorter - start && parts.at(-1 - end) === others.at(-1 - end)) end += 1
  const [before, after] = [Math.max(0, start - 1), Math.max(0, end - 1)]
  return lists.map(list =>
    [
      ...(before > 0 ? ['…'] : []),
      ...list.slice(before, list.length - after),
      ...(after > 0 ? ['…'] : []),
    ].join(', '),
  )
}

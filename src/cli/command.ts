/** What every command of the command line shares: its options, its arguments' checks, and how it prints. */
import type { Command } from 'commander'
import type { Static, TObject } from 'typebox'
import { sealEntries } from '../events/seal.ts'
import { ArgumentReader } from '../http/arguments.ts'
import type { Feature } from '../records/feature.ts'
import type { Database, DatabaseOptions } from '../storage/database.ts'
import { openDatabase } from '../storage/open.ts'
import type { Schema } from '../storage/table.ts'
import { databaseOption, jsonOption } from './options.ts'

/** Where the data is, and what is kept there: `main.ts` gives the registry to every command. */
export interface Source {
  database: string
  secretKeyFile?: string
  schema: Schema
  features: readonly Feature[]
}

export interface CommonOptions extends Source {
  json?: true
}

/** A command that can't do what it was asked to: one line that says why, never a stack. */
export class CommandFailed extends Error {}

/** Adds a command that works on a database. */
export function addCommand(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).addOption(databaseOption()).addOption(jsonOption())
}

/**
 * An embedded database has to be there: a path that is mistyped must not become a new one in which all is well. What the
 * command has written to the audit log is sealed, as no service may be there to do it.
 */
export async function withDatabase<T>(
  source: Source,
  work: (database: Database) => Promise<T>,
  options: DatabaseOptions = { existing: true },
): Promise<T> {
  return open(source, options, async database => {
    const result = await work(database)
    await sealEntries(database)
    return result
  })
}

/** The same for a command that may be the first on a database, which is made then. */
export async function withNewDatabase<T>(
  source: Source,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  return withDatabase(source, work, {})
}

/** For a command that looks whether all is well: it changes nothing, so that the next one finds what it has found. */
export async function withUntouchedDatabase<T>(
  source: Source,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  return open(source, { existing: true, readOnly: true }, work)
}

async function open<T>(
  { database: url, schema, secretKeyFile }: Source,
  options: DatabaseOptions,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  const database = await openDatabase(url, schema, { secretKeyFile, ...options })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/**
 * Checks arguments against the schema that the HTTP interface would use.
 * @throws Failure
 */
export function checkedArguments<T extends TObject>(schema: T, values: Record<string, unknown>): Static<T> {
  const present = Object.entries(values).filter(([, value]) => value !== undefined)
  return new ArgumentReader(schema).checked(Object.fromEntries(present))
}

/** Prints the result: one JSON object with --json, else lines for people. */
export function print({ json }: { json?: true }, result: object, lines: string[]): void {
  process.stdout.write(`${json ? JSON.stringify(result) : lines.join('\n')}\n`)
}

/** Lines of a table whose columns are as wide as they need to be. */
export function table(head: string[], rows: string[][]): string[] {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map(row => row[column]!.length)))
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd()
  return [line(head), ...rows.map(line)]
}

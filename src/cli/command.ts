/** Shared by all commands: options, argument checks and output. */
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import type { Static, TObject } from 'typebox'
import { sealEntries } from '../events/seal.ts'
import { ArgumentReader } from '../http/arguments.ts'
import type { Feature } from '../records/feature.ts'
import type { Database, DatabaseOptions } from '../storage/database.ts'
import { openDatabase } from '../storage/open.ts'
import type { Schema } from '../storage/table.ts'
import { databaseOption, jsonOption } from './options.ts'

/** The streams and the exit code of a command; `process` is one. */
export interface Terminal {
  readonly stdin: Readable
  readonly stdout: Writable
  readonly stderr: Writable & { readonly isTTY?: boolean }
  exitCode?: number | string | null | undefined
}

/** Where the data is, and the registry of what is stored there, which `process/program.ts` passes to every command. */
export interface Source {
  database: string
  secretKeyFile?: string
  schema: Schema
  features: readonly Feature[]
}

export interface CommonOptions extends Source {
  json?: true
  terminal: Terminal
}

/** An expected failure of a command: printed as one line, without a stack trace. */
export class CommandFailed extends Error {}

/** Adds a command that works on a database. */
export function addCommand(parent: Command, name: string, description: string): Command {
  return parent.command(name).description(description).addOption(databaseOption()).addOption(jsonOption())
}

/**
 * Opens an existing database: for an embedded one, a mistyped path must not create a new, empty one. Seals the audit log
 * entries of the command afterwards, since no service may be running to do it.
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

/** The same for commands that may create the database. */
export async function withNewDatabase<T>(
  source: Source,
  work: (database: Database) => Promise<T>,
): Promise<T> {
  return withDatabase(source, work, {})
}

/** For commands that only read: changes nothing, and works where nothing may be written. */
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
  const database = await openDatabase(url, schema, { secretKeyFile, onlyNew: true, ...options })
  try {
    return await work(database)
  } finally {
    await database.close()
  }
}

/**
 * Validates arguments against the schema of the HTTP interface.
 * @throws Failure
 */
export function checkedArguments<T extends TObject>(schema: T, values: Record<string, unknown>): Static<T> {
  const present = Object.entries(values).filter(([, value]) => value !== undefined)
  return new ArgumentReader(schema).checked(Object.fromEntries(present))
}

/** Prints the result: one JSON object with --json, otherwise text lines. */
export function print(
  { json, terminal }: Pick<CommonOptions, 'json' | 'terminal'>,
  result: object,
  lines: string[],
): void {
  terminal.stdout.write(`${json ? JSON.stringify(result) : lines.join('\n')}\n`)
}

/** Prints text that is made while it is printed. */
export async function printParts(
  { terminal }: Pick<CommonOptions, 'terminal'>,
  parts: AsyncIterable<string>,
): Promise<void> {
  await pipeline(parts, terminal.stdout, { end: false })
}

/** Formats a table with columns as wide as their content. */
export function table(head: string[], rows: string[][]): string[] {
  const widths = head.map((title, column) => Math.max(title.length, ...rows.map(row => row[column]!.length)))
  const line = (cells: string[]) =>
    cells
      .map((cell, column) => cell.padEnd(widths[column]!))
      .join('  ')
      .trimEnd()
  return [line(head), ...rows.map(line)]
}

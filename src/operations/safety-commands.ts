/** Commands that keep the data safe: backup, restore, check. */
import type { Command } from 'commander'
import { commandLine } from '../base/actor.ts'
import {
  addCommand,
  CommandFailed,
  type CommonOptions,
  print,
  table,
  withDatabase,
  withUntouchedDatabase,
} from '../cli/command.ts'
import { sealAll } from '../events/seal.ts'
import { listDeletedButOwed } from '../programme/ledger/deleted.ts'
import { onBehalfOf } from '../settings/rules.ts'
import { DatabaseUnusable } from '../storage/database.ts'
import { openWithoutKey } from '../storage/open.ts'
import { backupDatabase, restoreDatabase } from '../storage/sqlite/backup.ts'
import type { Schema } from '../storage/table.ts'
import { checkDatabase, repair } from './check/rules.ts'

export function addSafetyCommands(program: Command): void {
  addCommand(program, 'backup', 'back up the embedded database to a file, even while it is in use')
    .argument('<file>', 'file to write the backup to')
    .option('--force', 'replace the file if it exists')
    .action(backup)
  addCommand(program, 'restore', 'replace the embedded database with a backup; stop the service first')
    .argument('<file>', 'file with the backup')
    .action(restore)
  addCommand(
    program,
    'check',
    'look for damage in the file, references, search keys, records and log, without writing anything unless --repair is given; exits with 1 if there is any',
  )
    .option(
      '--repair',
      'first rewrite stale search keys, empty the search index, which the service rebuilds, and recount the records; stop the service first',
    )
    .action(check)
}

async function backup(file: string, options: CommonOptions & { force?: true }, self: Command): Promise<void> {
  // Elsewhere it stands for standard output, but a backup is checked before it is moved into its place.
  if (file === '-') self.error('error: a backup needs a file; ./- is one.')
  const bytes = await backupDatabase(options.database, file, {
    force: options.force ?? false,
    complete: copy => sealCopy(copy, options.schema),
  })
  print(options, { file, bytes }, [`Backed up into ${file}: ${bytes} bytes, checked.`])
}

/** Nobody seals a copy's last events later, and a check would take that for a fault. One of an older version stays as it is. */
async function sealCopy(url: string, schema: Schema): Promise<void> {
  try {
    await (await openWithoutKey(url, schema, { existing: true, readOnly: true })).close()
  } catch (cause) {
    if (cause instanceof DatabaseUnusable) return
    throw cause
  }
  const database = await openWithoutKey(url, schema, { existing: true })
  try {
    await sealAll(database)
  } finally {
    await database.close()
  }
}

async function restore(file: string, options: CommonOptions): Promise<void> {
  const previous = await restoreDatabase(options.database, file)
  print(options, { restored: file, previous: previous ?? null }, [
    `Restored ${file}.`,
    ...(previous === undefined ? [] : [`The database that was there is kept as ${previous}`]),
  ])
}

async function check(options: CommonOptions & { repair?: true }): Promise<void> {
  const { repaired, failed } = options.repair
    ? await withDatabase(options, repair)
    : { repaired: undefined, failed: [] }
  const {
    checked,
    problems: found,
    owed,
  } = await withUntouchedDatabase(options, async database => {
    const findings = await checkDatabase(database, options.features)
    // Nothing is wrong with that, but nobody else would notice.
    const isSound = findings.problems.length === 0
    return { ...findings, owed: isSound ? await listDeletedButOwed(onBehalfOf(commandLine, database)) : [] }
  })
  const problems = [...failed, ...found]
  if (problems.length > 0 && !options.json) throw new CommandFailed(problems.join('\n       '))
  if (problems.length > 0) options.terminal.exitCode = 1
  const rows = Object.entries(checked).map(([name, count]) => [name, String(count)])
  print(
    options,
    {
      ok: problems.length === 0,
      checked,
      problems,
      deleted_but_owed: owed,
      ...(repaired !== undefined && { repaired }),
    },
    [
      ...(repaired === undefined ? [] : [`Search keys of ${repaired} rows were written anew.`]),
      ...table(['checked', 'rows'], rows),
      ...owed.map(
        ({ affiliate_id: id, ...one }) =>
          `Affiliate ${id} was deleted: ${JSON.stringify(one.owed)} is owed, ${JSON.stringify(one.pending)} is pending.`,
      ),
      'No damage was found.',
    ],
  )
}

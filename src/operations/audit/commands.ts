import type { Command } from 'commander'
import { jsonLine } from '../../base/json.ts'
import { counted } from '../../base/words.ts'
import {
  addCommand,
  CommandFailed,
  type CommonOptions,
  print,
  printParts,
  withUntouchedDatabase,
} from '../../cli/command.ts'
import { showProgress } from '../../cli/progress.ts'
import { entryRowsAfter } from '../../events/store.ts'
import { verifyChain } from '../../events/verify.ts'
import type { Db } from '../../storage/database.ts'
import { compareAnchor } from './anchor-check.ts'
import { recordOf } from './rules.ts'
import type { EntryRecord } from './schema.ts'

const ENTRIES_AT_ONCE = 500

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('check and read the audit log')
  addCommand(audit, 'verify', 'verify the hash chain; exits with 1 if anything was changed')
    .option(
      '--anchor <file>',
      'also compare the seals with those that serve --audit-anchor has written to this file',
    )
    .action(verify)
  addCommand(audit, 'export', 'write all entries to standard output, one JSON object per line').action(
    exportEntries,
  )
}

async function verify(options: CommonOptions & { anchor?: string }): Promise<void> {
  const { anchor } = options
  const { progress, end } = showProgress(options.terminal, 'audit log')
  const { chain, compared } = await withUntouchedDatabase(options, async ({ reader }) => ({
    chain: await verifyChain(reader, progress),
    compared: anchor === undefined ? undefined : await compareAnchor(reader, anchor),
  })).finally(end)
  const problems = [chain.problem, compared?.problem].filter(problem => problem !== undefined)
  if (problems.length > 0) throw new CommandFailed(`The audit log was tampered with. ${problems.join(' ')}`)
  const { seals, entries, unsealed, last_hash } = chain
  print(options, { ...chain, ...(compared && { anchor_heads: compared.heads }) }, [
    `The audit log is whole: ${entries} entries under ${counted(seals, 'seal')}, ${unsealed} not sealed yet.`,
    `last seal  ${seals} ${last_hash}`,
    compared
      ? `All ${compared.heads} heads of ${anchor} are in the log.`
      : 'Keep this line elsewhere: it shows later whether the end of the log was cut off.',
  ])
}

async function exportEntries(options: CommonOptions): Promise<void> {
  await withUntouchedDatabase(options, ({ reader }) =>
    printParts(options, options.json ? jsonLine({ entries: entries(reader) }) : lines(reader)),
  )
}

/** Reads while it writes, so that a long log needs no more memory than a short one. */
async function* entries(db: Db): AsyncGenerator<EntryRecord[]> {
  for (let last = 0; ; ) {
    const rows = await entryRowsAfter(db, last, ENTRIES_AT_ONCE)
    if (rows.length === 0) return
    last = rows.at(-1)!.id
    yield rows.map(recordOf)
  }
}

async function* lines(db: Db): AsyncGenerator<string> {
  for await (const page of entries(db)) yield page.map(entry => `${JSON.stringify(entry)}\n`).join('')
}

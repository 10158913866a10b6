import { pipeline } from 'node:stream/promises'
import type { Command } from 'commander'
import {
  addCommand,
  CommandFailed,
  type CommonOptions,
  print,
  withDatabase,
  withUntouchedDatabase,
} from '../../cli/command.ts'
import { showProgress } from '../../cli/progress.ts'
import { entryRowsAfter } from '../../events/store.ts'
import { verifyChain } from '../../events/verify.ts'
import type { Db } from '../../storage/database.ts'
import { recordOf } from './rules.ts'

const ENTRIES_AT_ONCE = 500

export function addAuditCommands(program: Command): void {
  const audit = program.command('audit').description('check and read the audit log')
  addCommand(audit, 'verify', 'check the hash chain; exit 1 when anything was changed').action(verify)
  addCommand(audit, 'export', 'write every entry to standard output, one JSON object a line').action(
    exportEntries,
  )
}

async function verify(options: CommonOptions): Promise<void> {
  const { progress, end } = showProgress('audit log')
  const verdict = await withUntouchedDatabase(options, ({ reader }) => verifyChain(reader, progress)).finally(
    end,
  )
  if (verdict.problem !== undefined)
    throw new CommandFailed(`The audit log was tampered with. ${verdict.problem}`)
  const { seals, entries, unsealed, last_hash } = verdict
  print(options, verdict, [
    `The audit log is whole: ${entries} entries under ${seals} seals, ${unsealed} not sealed yet.`,
    `last seal  ${seals} ${last_hash}`,
    'Keep this line elsewhere: it shows later whether the end of the log was cut off.',
  ])
}

async function exportEntries(options: CommonOptions): Promise<void> {
  await withDatabase(options, ({ reader }) => pipeline(lines(reader), process.stdout))
}

/** Read while it is written, so that a long log needs no more memory than a short one. */
async function* lines(db: Db): AsyncGenerator<string> {
  for (let last = 0; ; ) {
    const rows = await entryRowsAfter(db, last, ENTRIES_AT_ONCE)
    if (rows.length === 0) return
    last = rows.at(-1)!.id
    yield rows.map(row => `${JSON.stringify(recordOf(row))}\n`).join('')
  }
}

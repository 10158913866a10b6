import type { Command } from 'commander'
import { commandLine } from '../../base/actor.ts'
import { formatTime } from '../../base/time.ts'
import { addCommand, type CommonOptions, print, withDatabase } from '../../cli/command.ts'
import { onBehalfOf } from '../../settings/rules.ts'
import { rotateKeys } from './keys.ts'
import { keys } from './store.ts'

export function addTrackingCommands(program: Command): void {
  const tracking = program.command('tracking').description('manage click tracking')
  addCommand(tracking, 'rotate-keys', 'sign click tokens with a new key from now on')
    .option('--forget', 'revoke all earlier tokens, and those of the next second: they credit nobody')
    .action(rotate)
}

async function rotate(options: CommonOptions & { forget?: true }): Promise<void> {
  const rows = await withDatabase(options, async database => {
    await rotateKeys(onBehalfOf(commandLine, database), { anew: true, alone: options.forget === true })
    return keys(database.reader)
  })
  const records = rows.map(({ id, created_at }) => ({ id, date: formatTime(created_at) }))
  print(options, { keys: records }, [
    `Click tokens are signed by key ${records[0]!.id} from now on, by a service that runs within a second.`,
    ...stillValid(records.length - 1),
  ])
}

function stillValid(olderKeys: number): string[] {
  if (olderKeys === 0) return []
  return [`Those of ${olderKeys === 1 ? 'the older key' : `${olderKeys} older keys`} are still valid.`]
}

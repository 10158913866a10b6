import type { Command } from 'commander'
import { commandLine } from '../../base/actor.ts'
import { addCommand, type CommonOptions, print, withDatabase } from '../../cli/command.ts'
import { secretKeyOption } from '../../cli/options.ts'
import { onBehalfOf } from '../../settings/rules.ts'
import { isSecretKeyGiven } from '../../storage/secret-keys.ts'
import { rotate } from './rules.ts'

export function addDetailsCommands(program: Command): void {
  const key = program
    .command('secret-key')
    .description('manage the key that encrypts payment details, secrets of sources and second factors')
  addCommand(
    key,
    'rotate',
    'encrypt all payment details, secrets of sources and second factors with a new key, and discard the old one',
  )
    .addOption(secretKeyOption())
    .action(rotateKey)
}

const left =
  'It is the first key of SECRET_KEY. Start every node with it as the first one, do this once more, and then leave the other keys out.'

async function rotateKey(options: CommonOptions): Promise<void> {
  const resealed = await withDatabase(options, database => rotate(onBehalfOf(commandLine, database)))
  print(options, { resealed }, [
    `Sealed ${resealed} payment details, secrets of sources and second factors by a new key.`,
    ...(isSecretKeyGiven() ? [left] : []),
  ])
}

import type { Command } from 'commander'
import { commandLine } from '../../base/actor.ts'
import { addCommand, type CommonOptions, print, withDatabase } from '../../cli/command.ts'
import { onBehalfOf } from '../../settings/rules.ts'
import { accountNamed } from '../users/commands.ts'
import { reset } from './rules.ts'

/** @param users the parent command */
export function addSecondFactorCommand(users: Command): void {
  addCommand(users, 'reset-second-factor', 'let somebody who has lost the app log in with the password alone')
    .argument('<login>', 'login name, e-mail address, or # and the identifier')
    .action(resetOf)
}

async function resetOf(login: string, options: CommonOptions): Promise<void> {
  const user = await withDatabase(options, async database => {
    const account = await accountNamed(database, login)
    await reset(onBehalfOf(commandLine, database), account.id)
    return account
  })
  print(options, { id: user.id, login: user.login }, [
    `${user.login} logs in by the password alone, until a second factor is set up again.`,
  ])
}

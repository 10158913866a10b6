import type { Command } from 'commander'
import { commandLine } from '../../base/actor.ts'
import {
  addCommand,
  type CommonOptions,
  checkedArguments,
  print,
  table,
  withDatabase,
  withNewDatabase,
  withUntouchedDatabase,
} from '../../cli/command.ts'
import { onBehalfOf } from '../../settings/rules.ts'
import { wholeList } from '../../storage/page.ts'
import { accountNamed } from '../users/commands.ts'
import { leftTo, type Role } from '../users/roles.ts'
import { createKey, recordOf, revokeKey } from './rules.ts'
import { keyArguments } from './schema.ts'
import { type KeyRow, listKeys, orders } from './store.ts'

/** @param allPermissions every permission there is */
export function addKeyCommands(program: Command, permissions: readonly string[]): void {
  const keys = program.command('keys').description('manage API keys')
  addCommand(keys, 'create', 'create an API key; its token is shown only once')
    .requiredOption('--name <text>', 'what the key is for')
    .requiredOption(
      '--user <login>',
      'the account that owns the key: login name, e-mail address, or # and the identifier',
    )
    .option('--read-only', 'permit only reading')
    .option(
      '--permissions <list>',
      `what the key may do, some of ${permissions.join(',')} (default: all permissions of the account's role; an account without a role has none)`,
    )
    .option(
      '--expires <date>',
      'last day on which the key works: YYYY-MM-DD, UTC (default: it does not expire)',
    )
    .action((options: CreateOptions, self: Command) => create(options, self, permissions))
  addCommand(keys, 'list', 'list API keys').action(list)
  addCommand(keys, 'revoke', 'revoke an API key for good')
    .argument('<public-key>', 'public part of the key, see keys list')
    .action(revoke)
}

interface CreateOptions extends CommonOptions {
  name: string
  user: string
  readOnly?: true
  permissions?: string
  expires?: string
}

async function create(
  options: CreateOptions,
  self: Command,
  allPermissions: readonly string[],
): Promise<void> {
  if (options.readOnly && options.permissions !== undefined) {
    self.error('error: --read-only and --permissions exclude each other')
  }
  const { key, token } = await withNewDatabase(options, async database => {
    const user = await accountNamed(database, options.user)
    const permissions = options.permissions ?? presetOf(options, user.role, allPermissions)
    if (permissions === undefined) {
      self.error(
        `error: ${user.login} has no role that would limit the key: say by --permissions, or --read-only, what it may do`,
      )
    }
    const args = checkedArguments(keyArguments, {
      name: options.name,
      permissions,
      expires: options.expires,
    })
    return createKey(onBehalfOf(commandLine, database), { ...args, user_id: user.id }, allPermissions)
  })
  print(options, { ...printed(key), token }, [
    `public key  ${key.public_key}`,
    `token       ${token}`,
    'The token will not be shown again.',
  ])
}

/** @returns undefined where nobody has said what the key may do: no key gets everything by what was left out */
function presetOf(
  { readOnly }: CreateOptions,
  role: Role,
  allPermissions: readonly string[],
): readonly string[] | undefined {
  if (readOnly)
    return leftTo(
      role,
      allPermissions.filter(permission => permission.endsWith('.read')),
    )
  return role === '' ? undefined : leftTo(role, allPermissions)
}

async function list(options: CommonOptions): Promise<void> {
  const all = wholeList(orders.id!)
  const keys = (await withUntouchedDatabase(options, ({ reader }) => listKeys(reader, {}, all))).map(printed)
  const rows = keys.map(key => [
    key.public_key,
    key.name,
    key.owner,
    key.status,
    key.last_used ?? 'never',
    key.expires ?? 'never',
    key.permissions.join(','),
  ])
  const head = ['public key', 'name', 'owner', 'status', 'last used', 'expires', 'permissions']
  print(options, { keys }, table(head, rows))
}

async function revoke(publicKey: string, options: CommonOptions): Promise<void> {
  const key = await withDatabase(options, database => revokeKey(onBehalfOf(commandLine, database), publicKey))
  const { public_key, status, revoked } = recordOf(key)
  print(options, { public_key, status, revoked }, [`Revoked ${public_key}.`])
}

function printed(key: KeyRow) {
  const { public_key, name, owner, permissions, status, date_created, ...times } = recordOf(key)
  return { public_key, name, owner: owner.login, permissions, status, created: date_created, ...times }
}

import type { Command, Help } from 'commander'
import { type TObject, Type } from 'typebox'
import { commandLine } from '../base/actor.ts'
import type { Settings } from '../base/settings.ts'
import {
  addCommand,
  type CommonOptions,
  checkedArguments,
  print,
  table,
  withNewDatabase,
  withUntouchedDatabase,
} from '../cli/command.ts'
import { changeSettings, loadSettings, onBehalfOf, settingsRecord } from './rules.ts'
import { settingsChanges } from './schema.ts'

const { properties }: TObject = settingsChanges
const names = Object.keys(properties)
const lists = Object.entries(properties)
  .filter(([, schema]) => Type.IsArray(schema))
  .map(([name]) => name)

export function addSettingsCommands(program: Command): void {
  const settings = program.command('settings').description('show and change the settings of the programme')
  addCommand(settings, 'get', 'show all settings, or one')
    .addArgument(nameArgument(settings, false))
    .action(get)
  addCommand(settings, 'set', `change a setting; ${lists.join(' and ')} take a list separated by commas`)
    .addArgument(nameArgument(settings, true))
    .argument('<value>', 'new value')
    .addHelpText('after', ({ command }) => meanings(command.createHelp()))
    .action(set)
}

/** Every setting with what it does, as help shows options. */
function meanings(help: Help): string {
  const width = Math.max(...names.map(name => name.length))
  const items = Object.entries(properties).map(([name, { description = '' }]: [string, Described]) =>
    help.formatItem(name, width, description, help),
  )
  return ['', 'Settings:', ...items].join('\n')
}

interface Described {
  readonly description?: string
}

function nameArgument(command: Command, required: boolean) {
  return command.createArgument(required ? '<name>' : '[name]', 'the setting').choices(names)
}

async function get(name: string | undefined, options: CommonOptions): Promise<void> {
  const record = recordOf(await withUntouchedDatabase(options, ({ reader }) => loadSettings(reader)))
  const fields = Object.entries(record).filter(([field]) => name === undefined || field === name)
  show(options, Object.fromEntries(fields))
}

async function set(name: string, value: string, options: CommonOptions): Promise<void> {
  const changes = checkedArguments(settingsChanges, { [name]: value })
  const settings = await withNewDatabase(options, database =>
    changeSettings(onBehalfOf(commandLine, database), changes),
  )
  show(options, recordOf(settings))
}

function show(options: CommonOptions, record: Record<string, unknown>): void {
  const rows = Object.entries(record).map(([name, value]) => [name, String(value)])
  print(options, record, table(['setting', 'value'], rows))
}

/** Settings under the names by which they are changed. */
function recordOf(settings: Settings) {
  const { decimals, ...changeable } = settingsRecord(settings)
  return changeable
}

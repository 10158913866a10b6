/** Settings shared by the whole programme, and the rules for changing them. */
import { randomUUID } from 'node:crypto'
import type { Origin } from '../base/actor.ts'
import { currencies, decimalsOf, NO_CURRENCY } from '../base/currencies.ts'
import { type Problems, refuseInvalid } from '../base/errors.ts'
import { formatRate, parseRate } from '../base/money.ts'
import type { Settings } from '../base/settings.ts'
import { type Context, type RequestContext, write } from '../events/write.ts'
import { type Database, type Db, type Engine, type Tx, within } from '../storage/database.ts'
import { earning } from './earning.ts'
import { payoutProblems, payouts } from './payouts.ts'
import type { SettingsChanges, SettingsRecord } from './schema.ts'
import * as store from './store.ts'
import { tracking, trackingProblems } from './tracking.ts'

/** Maximum staleness of settings that another process has changed. Changes by this process take effect at once. */
const MAX_AGE_MS = 500

/** The context for rules on this database. */
export function contextOf(database: Database): Context {
  const settings = new SettingsCache(database)
  return { database, settings, within: tx => contextOf(within(database, tx)) }
}

/** The context for rules that write. */
export function onBehalfOf(origin: Origin, database: Database): RequestContext {
  return { ...contextOf(database), ...origin }
}

/** Cached settings: reloaded when they have changed or, where the database has no versions, when they are too old. */
class SettingsCache {
  readonly #database: Database
  #settings: Promise<Settings> | undefined
  #readAt = 0
  #version: number | undefined

  constructor(database: Database) {
    this.#database = database
  }

  current(): Promise<Settings> {
    try {
      return this.#current(this.#database.version?.())
    } catch (error) {
      return Promise.reject(error)
    }
  }

  #current(version: number | undefined): Promise<Settings> {
    const isStale =
      version === undefined ? performance.now() - this.#readAt > MAX_AGE_MS : version !== this.#version
    if (this.#settings === undefined || isStale) {
      this.#readAt = performance.now()
      this.#version = version
      this.#settings = loadSettings(this.#database.reader)
      this.#settings.catch(() => this.forget())
    }
    return this.#settings
  }

  async lock(tx: Tx): Promise<Settings> {
    await store.lockSettings(tx, this.#database.engine)
    const settings = await store.readLockedSettings(tx, loadSettings)
    // Fresher than the cache. With versions, a transaction may see changes that are rolled back later, so they are not
    // cached.
    if (this.#database.version === undefined) {
      this.#settings = Promise.resolve(settings)
      this.#readAt = performance.now()
    }
    return settings
  }

  forget(): void {
    this.#settings = undefined
  }
}

export async function loadSettings(db: Db): Promise<Settings> {
  const [values, rateTypes] = await Promise.all([store.readSettings(db), store.readRateTypes(db)])
  const currency = values.get('currency')!
  return {
    defaultRate: parseRate(Number(values.get('default_rate')))!,
    defaultRateType: values.get('default_rate_type')!,
    rateTypes,
    currency,
    decimals: decimalsOf(currency)!,
    tracking: tracking.valuesOf(values),
    payouts: payouts.valuesOf(values),
    rulesVersion: values.get('rules_version')!,
    earning: earning.valuesOf(values),
  }
}

/** Marks what commissions are calculated by as changed: rules, exchange rates, terms. Waits for transactions that use them, and blocks new ones. */
export async function markRules(tx: Tx, engine: Engine): Promise<void> {
  await store.lockSettingsAlone(tx, engine)
  await store.writeSetting(tx, 'rules_version', randomUUID())
}

/**
 * Changes the given settings only.
 * @returns the settings after the change
 * @throws Failure invalid_argument
 */
export async function changeSettings(context: RequestContext, sent: SettingsChanges): Promise<Settings> {
  const settings = await write(context, async tx => {
    await store.lockSettingsAlone(tx, context.database.engine)
    const before = await loadSettings(tx)
    const problems = await problemsOf({ reader: tx, schema: context.database.schema }, before, sent)
    refuseInvalid(problems)
    const changes = withoutSame(sent, settingsRecord(before))
    if (changes.rate_types) await store.writeRateTypes(tx, changes.rate_types)
    const { default_rate, default_rate_type, currency } = changes
    if (default_rate !== undefined) {
      await store.writeSetting(tx, 'default_rate', formatRate(parseRate(default_rate)))
    }
    if (default_rate_type !== undefined) await store.writeSetting(tx, 'default_rate_type', default_rate_type)
    if (currency !== undefined) await store.writeSetting(tx, 'currency', currency)
    const otherSettings = [
      ...tracking.stored(changes),
      ...payouts.stored(changes),
      ...earning.stored(changes),
    ]
    for (const [name, value] of otherSettings) await store.writeSetting(tx, name, value)
    const after = await loadSettings(tx)
    tx.log('settings.edit', null, {
      before: settingsRecord(before),
      after: settingsRecord(after),
    })
    return after
  })
  context.settings.forget()
  return settings
}

/** Of what stays as it is nothing is stored, since no event tells of it. */
function withoutSame(sent: SettingsChanges, before: Readonly<Record<string, unknown>>): SettingsChanges {
  const changed = Object.entries(sent).filter(
    ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name]),
  )
  return Object.fromEntries(changed)
}

/** The changeable settings and what follows from them, as callers see them. */
export function settingsRecord(settings: Settings) {
  const { defaultRate, defaultRateType, rateTypes, currency, decimals } = settings
  return {
    default_rate: formatRate(defaultRate),
    default_rate_type: defaultRateType,
    rate_types: [...rateTypes],
    currency,
    decimals,
    ...tracking.recordOf(settings.tracking),
    ...payouts.recordOf(settings.payouts),
    ...earning.recordOf(settings.earning),
  }
}

/** The record as callers see it. */
export async function recordOf({ database }: Context, settings: Settings): Promise<SettingsRecord> {
  const currency_locked = await store.anyMoney(database)
  return { ...settingsRecord(settings), currency_locked, currencies: [...currencies] }
}

/** Validation beyond the schemas. */
export async function problems({ database }: Context, changes: SettingsChanges): Promise<Problems> {
  return problemsOf(database, await loadSettings(database.reader), changes)
}

async function problemsOf(
  database: store.Source,
  before: Settings,
  changes: SettingsChanges,
): Promise<Problems> {
  const { default_rate, default_rate_type: type, rate_types, currency } = changes
  const problems: Problems = { ...trackingProblems(changes), ...payoutProblems(changes, before) }
  if (default_rate === '') problems.default_rate = 'must be a number: there is no other rate to fall back to.'
  const types = rate_types && (await problemOfTypes(database, before, rate_types))
  if (types !== undefined) problems.rate_types = types
  const rateTypes = rate_types ?? before.rateTypes
  if (type !== undefined && !rateTypes.includes(type)) {
    problems.default_rate_type = `must be one of: ${rateTypes.join(', ')}.`
  }
  if (type === undefined && !rateTypes.includes(before.defaultRateType)) {
    problems.rate_types = `must keep the default, ${before.defaultRateType}.`
  }
  const inCurrency = currency === undefined ? undefined : await problemOfCurrency(database, before, currency)
  if (inCurrency !== undefined) problems.currency = inCurrency
  return problems
}

async function problemOfTypes(database: store.Source, before: Settings, rateTypes: readonly string[]) {
  if (rateTypes.length === 0) return 'must name at least one rate type.'
  if (new Set(rateTypes).size < rateTypes.length) return 'must name each rate type once.'
  if (rateTypes.some(name => name.trim() !== name || name === '' || name.includes(','))) {
    return 'must be names without commas and without spaces around them.'
  }
  const removedTypes = before.rateTypes.filter(name => !rateTypes.includes(name))
  const stillUsed = await store.rateTypesInUse(database, removedTypes)
  return stillUsed.length > 0 ? `must keep what affiliates use: ${stillUsed.join(', ')}.` : undefined
}

async function problemOfCurrency(database: store.Source, before: Settings, currency: string) {
  if (currency === before.currency) return undefined
  if (decimalsOf(currency) === undefined) return NO_CURRENCY
  if (!(await store.anyMoney(database))) return undefined
  return `must stay ${before.currency}: amounts are recorded in it.`
}

/**
 * Rules for commission rules. A version never changes: an edit adds the next version of its series, and deleting ends the
 * series, so that each referral keeps its reference to the version it was calculated by.
 */
import type { Static } from 'typebox'
import { Failure, type Problems, refuseInvalid } from '../../base/errors.ts'
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import { type Context, type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { existing, isAlready, readingOf } from '../../records/rules.ts'
import { problemsOfReferences } from '../../records/store.ts'
import { markRules } from '../../settings/rules.ts'
import type { Db } from '../../storage/database.ts'
import type { Schema } from '../../storage/table.ts'
import { rejudgeDrafts } from '../referrals/drafts.ts'
import { type RuleRow, rule } from './rule.ts'
import * as store from './store.ts'

type CreateArguments = Static<typeof rule.create>
type EditArguments = Static<typeof rule.edit>

/** @throws Failure invalid_argument */
async function create(context: RequestContext, args: CreateArguments): Promise<RuleRow> {
  return change(context, async (tx, settings) => {
    refuseInvalid(await problemsOf(tx, context.database.schema, settings, args))
    const id = await context.database.engine.reserveIdentity(tx, 'rules')
    const origin = { time: now(), actor: context.actor.userId }
    const row = await store.rules.insert(tx, {
      ...rule.newRow(args, settings, origin),
      id,
      series: id,
      version: 1,
    })
    tx.log('rule.create', id, { after: rule.logged(row, settings) })
    return row
  })
}

/**
 * Adds the next version: what was sent, and the rest from the previous version.
 * @throws Failure no_rule, rule_conflict, invalid_argument
 */
async function edit(context: RequestContext, args: EditArguments): Promise<RuleRow> {
  const { rule_id: id, ...sent } = args
  const unchanged = await unchangedBy(context, id, sent)
  if (unchanged) return unchanged
  return change(context, async (tx, settings) => {
    const before = await lockCurrent(tx, id)
    refuseInvalid(await problemsOf(tx, context.database.schema, settings, sent, before))
    const changes = rule.keep(sent, settings)
    if (isAlready(before, changes)) return before
    const { id: _id, ...kept } = before
    const time = now()
    await store.rules.set(tx, id, { status: 'replaced', updated_at: time })
    const after = await store.rules.insert(tx, {
      ...kept,
      ...changes,
      version: before.version + 1,
      created_at: time,
      updated_at: time,
    })
    tx.log('rule.edit', after.id, {
      before: rule.logged(before, settings),
      after: rule.logged(after, settings),
    })
    return after
  })
}

/** The rule, where it is like that already: then no rules are marked as changed, and no sales wait. */
async function unchangedBy(
  context: RequestContext,
  id: number,
  sent: Partial<CreateArguments>,
): Promise<RuleRow | undefined> {
  const settings = await context.settings.current()
  return write(context, async tx => {
    const before = await store.rules.lock(tx, id)
    if (before?.status !== 'current') return undefined
    const isAllowed =
      Object.keys(await problemsOf(tx, context.database.schema, settings, sent, before)).length === 0
    return isAllowed && isAlready(before, rule.keep(sent, settings)) ? before : undefined
  })
}

/**
 * Ends the series: it no longer applies to new sales.
 * @returns the last version as it was
 * @throws Failure no_rule, rule_conflict
 */
async function remove(context: RequestContext, id: number): Promise<RuleRow> {
  return change(context, async (tx, settings) => {
    const before = await lockCurrent(tx, id)
    await store.rules.set(tx, id, { status: 'ended', updated_at: now() })
    tx.log('rule.delete', id, { before: rule.logged(before, settings) })
    return before
  })
}

async function problems(
  { database, settings }: Context,
  { rule_id: id, ...args }: Partial<EditArguments>,
): Promise<Problems> {
  const before = id === undefined ? undefined : await store.rules.find(database.reader, id)
  return problemsOf(database.reader, database.schema, await settings.current(), args, before)
}

export const rules = { ...readingOf(rule, store.rules), create, edit, remove, problems }

/** Changes the rules for sales after the transaction; drafts that wait for a rule may be calculated then. */
async function change(
  context: RequestContext,
  work: (tx: WriteTx, settings: Settings) => Promise<RuleRow>,
): Promise<RuleRow> {
  const row = await write(context, async tx => {
    // Before anything else, so that sales under the former rules are finished.
    await markRules(tx, context.database.engine)
    const settings = await context.settings.lock(tx)
    const row = await work(tx, settings)
    await rejudgeDrafts(tx, settings, { reasons: ['no_rule'] })
    return row
  })
  context.settings.forget()
  return row
}

/** @throws Failure no_rule, rule_conflict */
async function lockCurrent(tx: WriteTx, id: number): Promise<RuleRow> {
  const row = existing(rule, await store.rules.lock(tx, id))
  if (row.status === 'current') return row
  const current = await store.currentOf(tx, row.series)
  throw new Failure('rule_conflict', {
    message: current
      ? `Version ${row.version} of this rule was replaced: version ${current.version} is current, rule ${current.id}.`
      : 'The rule has ended: create a new one.',
    data: current ? { rule_id: current.id } : {},
  })
}

/** @param before the version being edited */
async function problemsOf(
  db: Db,
  schema: Schema,
  settings: Settings,
  args: Partial<CreateArguments>,
  before?: Pick<RuleRow, 'affiliate_id' | 'group_id' | 'valid_from' | 'valid_until'>,
): Promise<Problems> {
  const changes: Partial<RuleRow> = rule.keep(args, settings)
  const {
    affiliate_id = null,
    group_id = null,
    valid_from = null,
    valid_until = null,
  } = { ...before, ...changes }
  const isOfBoth = affiliate_id !== null && group_id !== null
  const isNever = valid_from !== null && valid_until !== null && valid_from > valid_until
  return {
    ...rule.problems(args, settings),
    ...(await problemsOfReferences(db, schema, rule, args, before)),
    ...(isOfBoth && { group_id: 'must be 0 where affiliate_id is not: a rule is for one or the other.' }),
    ...(isNever && { until: 'must not be before from.' }),
  }
}

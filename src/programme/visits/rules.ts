/**
 * Rules for visits. Each counts for its affiliate, in the transaction that creates or deletes it. New visits are not
 * logged: they would make up most of the log.
 */
import { isIP } from 'node:net'
import type { Static } from 'typebox'
import { type Problems, refuseInvalid } from '../../base/errors.ts'
import { withoutHost } from '../../base/network.ts'
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import { type Context, type RequestContext, write } from '../../events/write.ts'
import { existing, isAlready, readingOf } from '../../records/rules.ts'
import { noSuch } from '../../records/store.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { addToCounters, affiliates } from '../affiliates/store.ts'
import { addVisits } from '../links/store.ts'
import { addToDays } from './days.ts'
import * as store from './store.ts'
import { campaignIn } from './url.ts'
import { type Visit, visit } from './visit.ts'

type CreateArguments = Static<typeof visit.create>
type EditArguments = Static<typeof visit.edit>

/** @throws Failure invalid_argument */
async function create(context: RequestContext, args: CreateArguments): Promise<Visit> {
  const settings = await context.settings.current()
  return write(context, async tx => {
    // Independent of each other, so they are sent together.
    const [problems, id] = await Promise.all([
      problemsOf(tx, settings, args),
      context.database.engine.reserveAhead(tx, visit.table.name),
    ])
    refuseInvalid(problems)
    const origin = { time: now(), actor: context.actor.userId }
    const { campaign = '' } = args
    const sent = { ...args, campaign: campaignIn(campaign) }
    const row = await store.visits.insert(tx, { ...visit.newRow(sent, settings, origin), id })
    await addToCounters(tx, row.affiliate_id, { visits: 1 })
    await addToDays(tx, [row])
    return row
  })
}

/**
 * Changes the fields that were sent, and no others.
 * @throws Failure no_visit, invalid_argument
 */
async function edit(context: RequestContext, args: EditArguments): Promise<Visit> {
  const settings = await context.settings.current()
  return write(context, async tx => {
    const before = existing(visit, await store.visits.lock(tx, args.visit_id))
    refuseInvalid(await problemsOf(tx, settings, args, before))
    const { visit_id: _id, ...sent } = args
    const change = visit.keep(sent, settings)
    if (isAlready(before, change)) return before
    const after = await store.visits.update(tx, before, { ...change, updated_at: now() })
    await move(tx, before.affiliate_id, after.affiliate_id)
    await addToDays(tx, [after], [before])
    tx.log('visit.edit', after.id, {
      before: visit.logged(before, settings),
      after: visit.logged(after, settings),
    })
    return after
  })
}

/**
 * @returns the visit as it was
 * @throws Failure no_visit
 */
async function remove(context: RequestContext, id: number): Promise<Visit> {
  const settings = await context.settings.current()
  return write(context, async tx => {
    const before = existing(visit, await store.visits.lock(tx, id))
    await store.visits.remove(tx, id)
    await addToCounters(tx, before.affiliate_id, { visits: -1 })
    if (before.link_id !== 0) await addVisits(tx, before.link_id, -1)
    await addToDays(tx, [], [before])
    tx.log('visit.delete', id, { before: visit.logged(before, settings) })
    return before
  })
}

/** What is wrong with arguments of a create or an edit beyond their schemas. */
async function problems({ database, settings }: Context, args: Partial<EditArguments>): Promise<Problems> {
  const { visit_id: id } = args
  const before = id === undefined ? undefined : await store.visits.find(database.reader, id)
  return problemsOf(database.reader, await settings.current(), args, before)
}

export const rules = {
  ...readingOf(visit, store.visits, searchByNetwork),
  create,
  edit,
  remove,
  problems,
}

/** A search for an address finds its network, which is all that is stored. */
function searchByNetwork(_: Context, args: { readonly search?: string }): object {
  const { search = '' } = args
  return isIP(search.trim()) === 0 ? args : { ...args, search: withoutHost(search.trim()) }
}

/** @param before the visit that is edited: if its affiliate was deleted, the visit stays theirs */
async function problemsOf(
  db: Db,
  settings: Settings,
  args: Partial<CreateArguments>,
  before?: Pick<Visit, 'affiliate_id'>,
): Promise<Problems> {
  const { affiliate_id } = args
  const isOther = affiliate_id !== undefined && affiliate_id !== before?.affiliate_id
  const isUnknown = isOther && !(await affiliates.isThere(db, affiliate_id))
  return {
    ...(isUnknown && { affiliate_id: noSuch('affiliate') }),
    ...visit.problems(args, settings),
  }
}

/** In order of identifier, so that transactions which move visits between the same affiliates do not deadlock. */
async function move(tx: Tx, from: number, to: number): Promise<void> {
  if (from === to) return
  const additions = new Map([
    [from, -1],
    [to, 1],
  ])
  for (const id of [from, to].sort((a, b) => a - b))
    await addToCounters(tx, id, { visits: additions.get(id)! })
}

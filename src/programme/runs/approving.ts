/**
 * Approves a run. First every item is compared with the present state, and nothing is reserved when one has changed. Then the
 * earnings are reserved in chunks, each in its own transaction, so that no other write waits for long and a run continues
 * after a crash where it was.
 */
import { Failure } from '../../base/errors.ts'
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import { type RequestContext, type WriteTx, write, writeMany } from '../../events/write.ts'
import { existing } from '../../records/rules.ts'
import { UniqueViolation } from '../../storage/database.ts'
import { changeRun } from './changing.ts'
import { conflict } from './conflict.ts'
import { changedBeside } from './digest.ts'
import { propose } from './facts.ts'
import type { Item } from './item.ts'
import { itemPages, itemsAfter } from './items-store.ts'
import { refuseOtherPayer, refuseUnpayable } from './payer.ts'
import { isReady } from './preparing.ts'
import { differenceOf, isSame } from './proposal.ts'
import { releaseItems, reserveItems } from './reserving.ts'
import { payoutRun, type Run, verification } from './run.ts'
import * as store from './store.ts'
import { approvalOf, MOST_NAMED } from './words.ts'

/** Other writes wait for one chunk at most. */
const ITEMS_AT_ONCE = 50
/** Referrals of a chunk; a single item may have more. */
const REFERRALS_AT_ONCE = 1000
/** Items that are compared at once; nothing is written for them. */
const COMPARED_AT_ONCE = 200
/** A step compares so many pages: whoever approves waits for no more than a few steps. */
const PAGES_AT_ONCE = 5
/** A refusal names all that it found, and explains only a few. */
const MOST_SENTENCES = 20

/** @throws Failure no_payout_run, run_conflict, second_person */
export async function beginApproval(
  context: RequestContext,
  { payout_run_id: id, hash }: { payout_run_id: number; hash: string },
): Promise<Run> {
  const begin = () =>
    write(context, async tx => {
      const settings = await context.settings.lock(tx)
      const before = existing(payoutRun, await store.runs.lock(tx, id))
      refuseUnready(before, hash)
      refuseSamePerson(context, before, settings)
      refuseUnpayable(before, settings)
      refuseOtherPayer(before, settings)
      const change = {
        status: 'approving',
        approved_by: context.actor.userId,
        verified: verification.unfinished,
        prepared_to: 0,
        done: 0,
        refusal: '',
      } as const
      return changeRun(tx, 'payout_run.approve', before, change, settings)
    })
  try {
    return await begin()
  } catch (cause) {
    if (!(cause instanceof UniqueViolation)) throw cause
    throw conflict(
      'Another payout run is being approved at the moment: approve this one when that has ended.',
    )
  }
}

function refuseUnready(run: Run, hash: string): void {
  if (run.status !== 'draft') throw conflict(`A run that is ${run.status} cannot be approved.`)
  if (!isReady(run)) throw conflict('The run is still being prepared: get it again in a moment.')
  if (run.hash !== hash) {
    throw conflict(
      'The run is not what hash stands for: look at its items again, and send the hash of the run.',
    )
  }
  if (run.payees === 0) throw conflict('Nobody is paid by this run.')
}

function refuseSamePerson({ actor }: RequestContext, run: Run, { payouts }: Settings): void {
  if (approvalOf(run.approval, payouts.approval) === 'one') return
  if (actor.userId === 0) {
    throw new Failure('second_person', {
      message: 'Two people are needed, and the command line is nobody: approve by an account of your own.',
    })
  }
  if (run.prepared_by === 0) {
    throw new Failure('second_person', {
      message:
        'Two people are needed, and the command line prepared it, which is nobody: prepare it by an account.',
    })
  }
  if (run.prepared_by === actor.userId) throw new Failure('second_person')
}

/** Items that have changed since the run was prepared, each with what has changed. */
type ChangedItems = Record<string, string>

/** A refusal by another process, as its own would have been. */
export function refusalOf({ refusal }: Pick<Run, 'refusal'>): Failure {
  const named = refusal.matchAll(/Affiliate (\d+) (.*?)(?= Affiliate \d| Prepare again)/gs)
  return conflict(refusal, {
    affiliates: Object.fromEntries(Array.from(named, ([, id, what]) => [id, what])),
  })
}

/**
 * Compares the next items with the present state.
 * @throws Failure run_conflict that names the changes; the run is a draft again
 */
export async function verify(context: RequestContext, run: Run): Promise<void> {
  const settings = await context.settings.current()
  const { changedItems, last } = await compareSome(context, run, settings)
  const names = Object.entries(changedItems).slice(0, MOST_NAMED)
  const sentences = names.slice(0, MOST_SENTENCES).map(([id, what]) => `Affiliate ${id} ${what}`)
  const isChangedBeside = names.length === 0 && last === undefined && (await isUnlikeHash(context, run))
  const refusal = isChangedBeside
    ? 'The items of the run are not those that its hash stands for, or its execution date or its payer is another: they were changed beside the service. Prepare again, and look at the payees.'
    : `The run has changed since it was prepared. ${sentences.join(' ')} Prepare again, and look at the payees.`
  const isUnchanged = names.length === 0 && !isChangedBeside
  const isRefused = await write(context, async tx => {
    const before = await store.runs.lock(tx, run.id)
    // Another process may have compared these meanwhile.
    if (
      before?.status !== 'approving' ||
      before.verified !== verification.unfinished ||
      before.prepared_to !== run.prepared_to
    )
      return false
    if (!isUnchanged) {
      const change = { status: 'draft', approved_by: 0, refusal } as const
      await changeRun(tx, 'payout_run.refuse', before, change, settings)
      return true
    }
    await store.runs.set(tx, run.id, {
      prepared_to: last ?? before.prepared_to,
      verified: last === undefined ? verification.unchanged : verification.unfinished,
      updated_at: now(),
    })
    if (last === undefined) tx.log('payout_run.reserve', run.id)
    return false
  })
  if (isRefused) throw conflict(refusal, { affiliates: Object.fromEntries(names) })
}

/** Finds also what the present state cannot tell, such as an item that is gone. */
async function isUnlikeHash({ database }: RequestContext, run: Run): Promise<boolean> {
  return (await changedBeside(run, itemPages(database.background().reader, run.id))) !== undefined
}

/** @returns the last affiliate that was compared; undefined when that was the last of the run */
async function compareSome(
  context: RequestContext,
  run: Run,
  settings: Settings,
): Promise<{ changedItems: ChangedItems; last: number | undefined }> {
  const { reader } = context.database.background()
  const changedItems: ChangedItems = {}
  let after = run.prepared_to
  for (let number = 1; number <= PAGES_AT_ONCE && !isLong(changedItems); number += 1) {
    const page = {
      runId: run.id,
      statuses: ['included', 'excluded'],
      after,
      limit: COMPARED_AT_ONCE,
    } as const
    const items = await itemsAfter(reader, page)
    const ids = items.map(item => item.affiliate_id)
    const { proposals } = await propose(reader, run, ids, settings)
    for (const [index, item] of items.entries()) {
      const now = proposals[index]!
      if (!isSame(item, now)) changedItems[item.affiliate_id] = differenceOf(item, now, settings)
    }
    if (items.length < COMPARED_AT_ONCE) return { changedItems, last: undefined }
    after = ids.at(-1)!
  }
  return { changedItems, last: after }
}

const isLong = (changedItems: ChangedItems) => Object.keys(changedItems).length >= MOST_NAMED

/** Reserves the earnings of the next items. @returns whether there may be more */
export async function reserveSome(context: RequestContext, run: Run): Promise<boolean> {
  return writeMany(context, async tx => {
    const settings = await context.settings.lock(tx)
    const before = await store.runs.lock(tx, run.id)
    if (before?.status !== 'approving' || before.verified !== verification.unchanged)
      return before?.status === 'approving'
    const items = await chunkOf(tx, run.id)
    const affiliates = items.map(item => item.affiliate_id)
    const { proposals, referrals } = await propose(tx, before, affiliates, settings, true)
    if (!items.every((item, index) => isSame(item, proposals[index]!))) {
      // An earning has changed since the comparison: what is reserved is released, and the next comparison names the
      // change.
      await store.runs.set(tx, run.id, { verified: verification.changed, updated_at: now() })
      tx.log('payout_run.refuse', run.id)
      return true
    }
    const eventId = await tx.reserveEvent()
    await reserveItems(tx, before, items, referrals, eventId)
    const isLast = items.length === 0
    const after = await store.runs.update(tx, before, {
      done: before.done + items.length,
      ...(isLast && { status: 'approved', approved_at: now() }),
      updated_at: now(),
    })
    tx.log('payout_run.reserve', run.id, {
      before: payoutRun.logged(before, settings),
      after: payoutRun.logged(after, settings),
      event: eventId,
    })
    return !isLast
  })
}

/** The next items, with not much more referrals than one transaction should hold. */
async function chunkOf(tx: WriteTx, runId: number): Promise<Item[]> {
  const items = await store.firstItems(tx, runId, 'included', ITEMS_AT_ONCE)
  let referrals = 0
  const end = items.findIndex(item => {
    referrals += item.referrals
    return referrals > REFERRALS_AT_ONCE
  })
  return end < 0 ? items : items.slice(0, Math.max(1, end))
}

/** Releases what an approval had reserved before it failed. */
export async function takeBackSome(context: RequestContext, run: Run): Promise<boolean> {
  return writeMany(context, async tx => {
    const before = await store.runs.lock(tx, run.id)
    if (before?.status !== 'approving' || before.verified !== verification.changed)
      return before?.status === 'approving'
    const items = await store.firstItems(tx, run.id, 'reserved', ITEMS_AT_ONCE)
    const eventId = await tx.reserveEvent()
    await releaseItems(tx, items, { reason: 'payout_run.refuse', eventId })
    await store.changeItems(
      tx,
      items.map(item => item.id),
      { status: 'included', updated_at: now() },
    )
    await store.runs.set(tx, run.id, {
      done: before.done - items.length,
      ...(items.length === 0 && { verified: verification.unfinished, prepared_to: 0 }),
      updated_at: now(),
    })
    tx.log('payout_run.refuse', run.id, { event: eventId })
    return true
  })
}

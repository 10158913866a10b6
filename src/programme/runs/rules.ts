/**
 * Payout runs pay what affiliates are owed. A run is prepared, reviewed, approved as it was shown, sent as files, and
 * closed once the outcome of each payment is known.
 */
import type { Static } from 'typebox'
import { Failure, type Problems, refuseInvalid } from '../../base/errors.ts'
import { now } from '../../base/time.ts'
import { type Context, type RequestContext, write } from '../../events/write.ts'
import { existing, readingOf } from '../../records/rules.ts'
import { noSuch } from '../../records/store.ts'
import { DatabaseUnavailable, type Tx } from '../../storage/database.ts'
import { affiliates } from '../affiliates/store.ts'
import { groups } from '../groups/store.ts'
import { beginApproval, refusalOf, reserveSome, takeBackSome, verify } from './approving.ts'
import { beginCancelling, releaseSome } from './cancelling.ts'
import { changeRun } from './changing.ts'
import { conflict } from './conflict.ts'
import { problemOfDay } from './execution.ts'
import { runItem } from './item.ts'
import { problemOfNote, refuseUnpayable, storedPayer } from './payer.ts'
import { isReady, prepareSome } from './preparing.ts'
import { canonical, newRunReference, runIdIn } from './references.ts'
import { isReferenceIn } from './report.ts'
import { leftOutOf, payoutRun, type Run, verification } from './run.ts'
import type { CancelArguments, editArguments, PrepareArguments } from './schema.ts'
import * as store from './store.ts'
import { sumItems } from './sums-store.ts'
import { approvalOf, isOpen } from './words.ts'

export { reconcile, reconciliationCsv } from './reconciling.ts'
export { recordResults, settleItem } from './recording.ts'
export { file, handOver, listFiles } from './sending.ts'

export const reading = readingOf(payoutRun, store.runs, searchByReference)
export const itemReading = readingOf(runItem, store.items)

/** A search for what stands on a bank statement finds the run that paid it. */
async function searchByReference({ database }: Context, args: { readonly search?: string }): Promise<object> {
  const { search = '' } = args
  const id = runIdIn(search)
  const run = id && (await store.runs.find(database.replica, id))
  if (!run || !(canonical(search) === run.reference || isReferenceIn(run, search))) return args
  return { ...args, search: `#${run.id}` }
}

/** How long a request works on a long step itself; the rest is done in the background. */
const AT_ONCE_MS = 2000

/** @throws Failure invalid_argument */
export async function prepare(context: RequestContext, args: PrepareArguments): Promise<Run> {
  const { exclude = [], ...sent } = args
  const run = await write(context, async tx => {
    const settings = await context.settings.lock(tx)
    const time = now()
    const { group_id: group = 0 } = sent
    const isUnknown = group !== 0 && !(await groups.isThere(tx, group))
    const terms = { method: 'csv', note: '', ...sent } as const
    refuseInvalid({
      ...problemOfNote(terms),
      ...problemOfDay(terms, time),
      ...payoutRun.problems(sent, settings),
      ...(isUnknown && { group_id: noSuch('group', { orNone: true }) }),
      ...(await problemOfStrangers(tx, { exclude })),
    })
    refuseUnpayable(terms, settings)
    const fresh = payoutRun.newRow(sent, settings, { time, actor: context.actor.userId })
    const draft = await store.runs.insert(tx, {
      ...fresh,
      approval: settings.payouts.approval,
      prepared_by: context.actor.userId,
      left_out: distinct(exclude),
      payer: storedPayer(settings),
    })
    const run = await store.runs.update(tx, draft, { reference: newRunReference(draft.id) })
    tx.log('payout_run.create', run.id, { after: payoutRun.logged(run, settings) })
    return run
  })
  await proceed(context, run.id)
  return current(context, run.id)
}

/** Whom a slip of the pen leaves out is paid: an identifier has to be one that an affiliate has, or had. */
async function problemOfStrangers(
  tx: Tx,
  named: Readonly<Record<string, readonly number[]>>,
): Promise<Problems> {
  const problems: Problems = {}
  for (const [name, ids] of Object.entries(named)) {
    const largest = Math.max(0, ...ids)
    if (largest > 0 && !(await affiliates.reaches(tx, largest)))
      problems[name] = `must be identifiers of affiliates: there is no affiliate ${largest}.`
  }
  return problems
}

const distinct = (ids: readonly number[]) => [...new Set(ids)].sort((a, b) => a - b).join(',')

/** @throws Failure run_conflict when whom it names are left out, or taken in, already */
function leftOutAfter(run: Run, args: Static<typeof editArguments>): string {
  const { exclude, leave_out: out = [], take_in: into = [] } = args
  const ids = distinct([...(exclude ?? leftOutOf(run)), ...out].filter(id => !into.includes(id)))
  if (ids === run.left_out && out.length + into.length > 0) {
    const named = [...out, ...into].length === 1 ? `Affiliate ${[...out, ...into][0]} is` : 'They are all'
    throw conflict(
      `${named} ${into.length === 0 ? 'left out already' : out.length === 0 ? 'not left out' : 'left out or taken in already'}: the run stays as it was prepared.`,
    )
  }
  return ids
}

/**
 * Prepares a draft again on the same terms, maybe without other affiliates. The account that does so counts as having prepared it.
 * @throws Failure no_payout_run, run_conflict
 */
export async function edit(context: RequestContext, args: Static<typeof editArguments>): Promise<Run> {
  const { payout_run_id: id } = args
  await write(context, async tx => {
    const settings = await context.settings.lock(tx)
    const before = existing(payoutRun, await store.runs.lock(tx, id))
    if (before.status !== 'draft') throw conflict(`A run that is ${before.status} stays as it is.`)
    const { exclude = [], leave_out = [] } = args
    refuseInvalid(await problemOfStrangers(tx, { exclude, leave_out }))
    const after = await store.runs.update(tx, before, {
      left_out: leftOutAfter(before, args),
      approval: approvalOf(before.approval, settings.payouts.approval),
      prepared_by: context.actor.userId,
      payer: storedPayer(settings),
      created_at: now(),
      prepared_to: 0,
      digest: '',
      hash: '',
      payees: 0,
      amount: 0,
      excluded: 0,
      refusal: '',
      updated_at: now(),
    })
    // What it came to is logged when it is prepared: until then it has no payees.
    const { payees, amount, excluded, refusal } = before
    tx.log('payout_run.edit', id, {
      before: payoutRun.logged(before, settings),
      after: payoutRun.logged({ ...after, payees, amount, excluded, refusal }, settings),
    })
  })
  await proceed(context, id)
  return current(context, id)
}

/** @throws Failure no_payout_run, run_conflict, second_person */
export async function approve(
  context: RequestContext,
  args: { payout_run_id: number; hash: string },
): Promise<Run> {
  const { id } = await beginApproval(context, args)
  await proceed(context, id)
  return approvedAsFar(context, id)
}

/** @throws Failure run_conflict when another process has found that the run cannot be approved */
export async function approvedAsFar(context: RequestContext, id: number): Promise<Run> {
  const run = await current(context, id)
  if (run.status === 'draft') {
    throw run.refusal
      ? refusalOf(run)
      : conflict('The run was prepared anew meanwhile: look at its items again.')
  }
  return run
}

/** @throws Failure no_payout_run, run_conflict */
export async function cancel(context: RequestContext, args: CancelArguments): Promise<Run> {
  const run = await beginCancelling(context, args)
  await proceed(context, run.id)
  return current(context, run.id)
}

/** @throws Failure no_payout_run, run_conflict when the outcome of a payment is not known */
export async function close(context: RequestContext, id: number): Promise<Run> {
  return write(context, async tx => {
    const settings = await context.settings.lock(tx)
    const before = existing(payoutRun, await store.runs.lock(tx, id))
    if (before.status === 'closed') return before
    if (before.status !== 'sent' && before.status !== 'approved') {
      throw conflict(`A run that is ${before.status} cannot be closed.`)
    }
    const sums = await sumItems(tx, id)
    const open = sums.filter(isOpen)
    const count = open.reduce((sum, one) => sum + one.count, 0)
    if (count > 0) {
      throw conflict(
        `The outcome of ${count} ${count === 1 ? 'payment is' : 'payments is'} not known: record each before the run is closed.`,
        { open: count },
      )
    }
    const change = { status: 'closed', closed_at: now() } as const
    return changeRun(tx, 'payout_run.close', before, change, settings)
  })
}

async function current({ database }: Context, id: number): Promise<Run> {
  return existing(payoutRun, await store.findWhole(database.reader, id))
}

/**
 * Continues a step that was begun, until it is done or the time is over.
 * @throws Failure run_conflict when a run to be approved has changed
 */
export async function proceed(context: RequestContext, id: number, forMs = AT_ONCE_MS): Promise<void> {
  const until = performance.now() + forMs
  while (await proceedOnce(context, id)) {
    if (performance.now() > until) return
    // Requests come first.
    await new Promise(setImmediate)
  }
}

async function proceedOnce(context: RequestContext, id: number): Promise<boolean> {
  const run = await store.findWhole(context.database.reader, id)
  if (!run) return false
  if (!isReady(run)) return prepareSome(context, run)
  if (run.status === 'cancelled') return releaseSome(context, run)
  if (run.status !== 'approving') return false
  if (run.verified === verification.unchanged) return reserveSome(context, run)
  if (run.verified === verification.changed) return takeBackSome(context, run)
  await verify(context, run)
  return true
}

/**
 * Continues steps that are unfinished, because they are long or because their process has ended. A run that cannot be
 * continued keeps no other one waiting.
 * @throws AggregateError of the runs that failed
 */
export async function proceedAll(context: RequestContext, isClosed: () => boolean): Promise<void> {
  const errors: unknown[] = []
  for (const id of await store.unfinished(context.database.reader)) {
    try {
      while (!isClosed() && (await proceedOnce(context, id))) await new Promise(setImmediate)
    } catch (error) {
      if (error instanceof DatabaseUnavailable) throw error
      // The run states itself why it was refused.
      if (!(error instanceof Failure)) errors.push(error)
    }
  }
  if (errors.length > 0) throw new AggregateError(errors, 'Payout runs could not be continued.')
}

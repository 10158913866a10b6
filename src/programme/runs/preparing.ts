/** Prepares a run: lists every affiliate with a balance, and decides why each is in or out. Reserves nothing. */
import { now } from '../../base/time.ts'
import { type RequestContext, write } from '../../events/write.ts'
import { storedSum } from '../../storage/sums.ts'
import { digestWith } from './digest.ts'
import { propose } from './facts.ts'
import type { Proposal } from './proposal.ts'
import { payoutRun, type Run } from './run.ts'
import * as store from './store.ts'

const AFFILIATES_AT_ONCE = 100
const REMOVED_AT_ONCE = 500

/** Adds the next affiliates to a draft. @returns whether there may be more */
export async function prepareSome(context: RequestContext, run: Run): Promise<boolean> {
  const { reader } = context.database.background()
  const settings = await context.settings.current()
  const ids = await store.candidatesAfter(reader, run, run.prepared_to, AFFILIATES_AT_ONCE)
  const { proposals } = await propose(reader, run, ids, settings)
  const isLast = ids.length < AFFILIATES_AT_ONCE
  return write(context, async tx => {
    const before = await store.runs.lock(tx, run.id)
    // Another process may have prepared these meanwhile.
    if (!before || isReady(before)) return false
    // Since the facts were read, it was prepared further, or anew: they may be older than that.
    if (!isAsRead(run, before)) return true
    // Of a draft that is prepared anew.
    if (before.prepared_to === 0 && (await store.removeItems(tx, run.id, REMOVED_AT_ONCE))) return true
    await store.insertItems(
      tx,
      proposals.map(proposal => ({
        ...proposal,
        run_id: run.id,
        payout_id: 0,
        created_at: before.created_at,
        settled_at: null,
        updated_at: now(),
      })),
    )
    const digest = digestWith(before, before.digest, proposals)
    const included = proposals.filter(({ status }) => status === 'included')
    const after = await store.runs.update(tx, before, {
      prepared_to: ids.at(-1) ?? before.prepared_to,
      digest,
      hash: isLast ? digest : '',
      payees: before.payees + included.length,
      amount: storedSum(BigInt(before.amount) + sumOf(included)),
      excluded: before.excluded + proposals.length - included.length,
      updated_at: now(),
    })
    // One event for the whole preparation; an unfinished draft is not logged.
    if (isLast) {
      tx.log('payout_run.prepare', run.id, {
        after: cameTo(payoutRun.logged(after, settings)),
      })
    }
    return !isLast
  })
}

const isAsRead = (read: Run, locked: Run) =>
  (['prepared_to', 'left_out', 'updated_at'] as const).every(name => read[name] === locked[name])

/** Whether every affiliate is listed, so that the run can be approved. */
export function isReady({ status, hash }: Pick<Run, 'status' | 'hash'>): boolean {
  return status !== 'draft' || hash !== ''
}

const sumOf = (proposals: readonly Proposal[]) =>
  proposals.reduce((sum, { amount }) => sum + BigInt(amount), 0n)

/** What the log says of a preparation; what was asked for is logged before it. */
const cameTo = (logged: object) =>
  Object.fromEntries(
    Object.entries(logged).filter(([name]) => ['payees', 'amount', 'excluded', 'hash'].includes(name)),
  )

/**
 * Rules for payouts. Their amounts are in the programme's currency, which may change until the first amount is recorded: a
 * transaction that writes a payout therefore locks the settings.
 */
import type { Static } from 'typebox'
import { Failure, type Problems, refusalOf, refusalsOf, refuseInvalid } from '../../base/errors.ts'
import { exactNumber } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import type { Change } from '../../events/append.ts'
import { type Context, inTransaction, type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { existing, isAlready, narrowed, readingOf } from '../../records/rules.ts'
import { forEachInTurn } from '../../storage/concurrently.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { unitsOfSum } from '../../storage/sums.ts'
import { aboutWhom, aboutWhomBy } from '../affiliates/account.ts'
import { affiliates } from '../affiliates/store.ts'
import { owedTo } from '../ledger/rules.ts'
import { followPayout } from '../runs/returning.ts'
import { runOf } from '../runs/store.ts'
import { carryOut, lockNamed, type Plan, plan, postAlone } from './paying.ts'
import { type Payout, type PayoutAction, type PayoutRow, payout } from './payout.ts'
import * as store from './store.ts'

type CreateArguments = Static<typeof payout.create>
/** Callers of the interface always name the affiliate; callers within the service may leave it as it is. */
type EditArguments = Pick<Static<typeof payout.edit>, 'payout_id'> & Partial<Static<typeof payout.edit>>

/**
 * An omitted amount is the sum of the known referrals.
 * @throws Failure invalid_argument, payout_conflict
 */
async function create(context: RequestContext, args: CreateArguments): Promise<Payout> {
  return write(context, async tx => {
    // Independent of each other, so they are sent together.
    const [settings, missing, eventId, locked] = await Promise.all([
      context.settings.lock(tx),
      missingIn(tx, args),
      tx.reserveEvent(),
      lockNamed(tx, undefined, { referrals: distinct(args.referrals) }),
    ])
    refuseInvalid({ ...missing, ...payout.problems(args, settings) })
    const { newRow, wanted } = newRowOf(args, settings, context)
    const planned = plan(locked, undefined, undefined, wanted, settings)
    const { amount, names } = planned.after!
    const row = await store.payouts.insert(tx, { ...newRow, amount }, names)
    await finish(tx, planned, { after: row, eventId }, settings)
    return row
  })
}

/** A payout to be created that pays no known referral. */
interface Alone {
  readonly args: CreateArguments
  readonly planned: Plan
  readonly row: Omit<Payout, 'id'>
}

/** Creates many; those that cannot be created are answered by their failure. */
async function createMany(
  context: RequestContext,
  argsOfAll: readonly CreateArguments[],
): Promise<(Payout | Failure)[]> {
  return write(context, async tx => {
    const settings = await context.settings.lock(tx)
    const outcomes = new Map<CreateArguments, Payout | Failure>(await refusedAmong(tx, settings, argsOfAll))
    const locked = await lockNamed(tx, undefined, {
      referrals: argsOfAll.flatMap(({ referrals }) => referrals ?? []),
    })
    const isAlone = ({ referrals }: CreateArguments) => !referrals?.some(id => locked.referrals.has(id))
    const alone: Alone[] = []
    for (const args of argsOfAll) {
      if (outcomes.has(args) || !isAlone(args)) continue
      const { newRow, wanted } = newRowOf(args, settings, context)
      const refusal = refusalOf(() => {
        const planned = plan(locked, undefined, undefined, wanted, settings)
        alone.push({ args, planned, row: { ...newRow, amount: planned.after!.amount } })
      })
      if (refusal) outcomes.set(args, refusal)
    }
    const ids = await store.payouts.insertMany(
      tx,
      alone.map(({ row }) => row),
      alone.map(({ planned }) => planned.after!.names),
    )
    const events = await tx.reserveEvents(alone.length)
    const about = await aboutEach(tx, alone)
    const posted = alone.map(({ args, planned, row }, place) => {
      const [id, eventId] = [ids[place]!, events[place]!]
      const after = { ...row, id }
      outcomes.set(args, after)
      tx.log('payout.create', id, {
        after: payout.logged(after, settings),
        event: eventId,
        ...about[place],
      })
      return { id, planned, eventId }
    })
    await postAlone(tx, posted)
    // Two of them may name the same referral: each has to see what those before it have paid.
    const others = argsOfAll.filter(args => !outcomes.has(args))
    await forEachInTurn(others, async args => {
      outcomes.set(args, await create(inTransaction(context, tx), args))
    })
    return argsOfAll.map(args => outcomes.get(args)!)
  })
}

/** The failures of those whose arguments are wrong. */
async function refusedAmong(
  tx: Tx,
  settings: Settings,
  argsOfAll: readonly CreateArguments[],
): Promise<[CreateArguments, Failure][]> {
  const affiliateIds = distinct(argsOfAll.map(({ affiliate_id }) => affiliate_id))
  const payable = await affiliates.thereAmong(tx, affiliateIds)
  for (const id of affiliateIds) if (!payable.has(id) && (await owedTo(tx, id)) > 0n) payable.add(id)
  return refusalsOf(argsOfAll, args => {
    const isUnknown = !payable.has(args.affiliate_id)
    refuseInvalid({ ...(isUnknown && NOBODY), ...payout.problems(args, settings) })
  })
}

function newRowOf(args: CreateArguments, settings: Settings, { actor }: RequestContext) {
  const newRow = payout.newRow(args, settings, { time: now(), actor: actor.userId })
  const amount = args.amount === undefined ? undefined : newRow.amount
  return { newRow, wanted: { ...newRow, amount, referrals: distinct(args.referrals) } }
}

/**
 * Changes the fields that were sent, and no others: the amount stays as well.
 * @throws Failure no_payout, invalid_argument, payout_conflict
 */
async function edit(context: RequestContext, args: EditArguments): Promise<Payout> {
  return write(context, async tx => {
    const { before, after } = await change(context, tx, args)
    if (before.status === 'paid' && after.status === 'failed')
      await returnItem(context, tx, before, 'set to failed')
    return after
  })
}

/** Without what follows for the other payouts of a run's payment. */
async function change(
  context: RequestContext,
  tx: WriteTx,
  args: EditArguments,
): Promise<Record<'before' | 'after', Payout>> {
  const { payout_id: id, ...sent } = args
  const { settings, before, names, eventId } = await lock(context, tx, id)
  refuseInvalid({ ...(await missingIn(tx, args, before)), ...payout.problems(args, settings) })
  const values = payout.keep(sent, settings)
  if (isAlready(before, values)) return { before, after: before }
  refuseRun(before, { ...before, ...values })
  const referrals = sent.referrals === undefined ? [...names.keys()] : distinct(sent.referrals)
  const locked = await lockNamed(tx, { names }, { referrals })
  const planned = plan(locked, id, { ...before, names }, { ...before, ...values, referrals }, settings)
  const after = await store.payouts.update(tx, before, { ...values, updated_at: now() })
  if (sent.referrals !== undefined) await store.replaceNames(tx, id, planned.after!.names)
  await finish(tx, planned, { before, after, eventId }, settings)
  return { before, after }
}

/**
 * Deletes a payout; its referrals are unpaid again.
 * @returns the payout as it was
 * @throws Failure no_payout
 */
async function remove(context: RequestContext, id: number): Promise<Payout> {
  return write(context, async tx => {
    const { settings, before, names, eventId } = await lock(context, tx, id)
    const locked = await lockNamed(tx, { names }, undefined)
    const planned = plan(locked, id, { ...before, names }, undefined, settings)
    await store.payouts.remove(tx, id)
    await finish(tx, planned, { before, eventId }, settings)
    await returnItem(context, tx, before, 'deleted')
    return before
  })
}

/**
 * Reads and locks what every change of a payout needs, by queries that are sent together.
 * @throws Failure no_payout
 */
async function lock(context: RequestContext, tx: WriteTx, id: number) {
  const [settings, row, names, eventId] = await Promise.all([
    context.settings.lock(tx),
    store.payouts.lock(tx, id),
    store.namesOf(tx, id),
    tx.reserveEvent(),
  ])
  return { settings, before: existing(payout, row), names, eventId }
}

/** The payment of a payout that was paid by a run came back, and with it the other payouts that it was split into. */
async function returnItem(
  context: RequestContext,
  tx: WriteTx,
  before: Payout,
  what: 'set to failed' | 'deleted',
): Promise<void> {
  if (before.run_item_id === 0) return
  const settings = await context.settings.lock(tx)
  for (const payout_id of await followPayout(tx, before, what, settings)) {
    await change(context, tx, { payout_id, status: 'failed' })
  }
}

/** A payout of a run paid what the run's files said, so it can only turn out to have failed. */
function refuseRun(before: Payout, after: Payout): void {
  if (before.run_item_id === 0) return
  const isSame = (['affiliate_id', 'amount', 'referrals', 'payout_method'] as const).every(
    name => before[name] === after[name],
  )
  if (isSame && !(before.status === 'failed' && after.status === 'paid')) return
  throw new Failure('payout_conflict', {
    message:
      'A payout run made this payout: its date, reference and note can change, and its status from paid to failed. Record another payout for what is paid otherwise.',
  })
}

const distinct = (ids: readonly number[] = []) => [...new Set(ids)]

async function aboutEach(tx: Tx, alone: readonly Alone[]): Promise<Pick<Change, 'person'>[]> {
  const about: Pick<Change, 'person'>[] = []
  for (const { row } of alone) about.push(await aboutWhom(tx, 'note', { after: row }))
  return about
}

/** A payment of a run that did not stay with its payee has come back. */
function actionOf(before: Payout | undefined, after: Payout | undefined): PayoutAction {
  if (!before) return 'payout.create'
  if (!after) return 'payout.delete'
  if (before.status !== 'paid' || after.status !== 'failed') return 'payout.edit'
  return before.run_item_id === 0 ? 'payout.fail' : 'payout.return'
}

/** Logs a change, pays referrals or makes them unpaid as planned, and posts the moves for the same reason. */
async function finish(
  tx: WriteTx,
  planned: Plan,
  { before, after, eventId }: { before?: Payout; after?: Payout; eventId: number },
  settings: Settings,
): Promise<void> {
  const { id } = (after ?? before)!
  const action = actionOf(before, after)
  const about = await aboutWhomBy(tx, 'note', { before, after }, eventId)
  tx.log(action, id, {
    ...(before && { before: payout.logged(before, settings) }),
    ...(after && { after: payout.logged(after, settings) }),
    ...about,
  })
  await carryOut(tx, id, planned, { reason: action, eventId: about.event }, settings)
}

/** What is wrong with arguments of a create or an edit beyond their schemas. */
async function problems(
  { database, settings }: Context,
  { payout_id, ...args }: Partial<EditArguments>,
): Promise<Problems> {
  const before = payout_id === undefined ? undefined : await store.payouts.find(database.reader, payout_id)
  const missing = await missingIn(database.reader, args, before)
  return { ...missing, ...payout.problems(args, await settings.current()) }
}

const reading = readingOf(payout, store.payouts)

export const rules = { ...reading, create, createMany, edit, remove, problems }

export const bulkKind = { ...payout, reading, store: store.payouts }

/** @throws Failure no_payout */
export async function getNotes({ database }: Context, id: number) {
  const db = database.replica
  const { reference, note, run_item_id } = existing(payout, (await store.notesOf(db, [id])).get(id))
  return { payout_id: id, reference, note, payout_run_id: await runOf(db, run_item_id) }
}

/** The references and notes of payouts, by their identifiers. */
export async function notesOf({ database }: Context, ids: readonly number[]) {
  return ids.length === 0 ? new Map<number, never>() : store.notesOf(database.replica, ids)
}

/** Counts, and exact sums in the programme's currency. */
export async function totalPayouts(context: Context, args: object) {
  const settings = await context.settings.current()
  const total = await store.sumPayouts(context.database.replica, narrowed(payout, args, settings))
  const [paid, failed] = [unitsOfSum(total.paid_sum), unitsOfSum(total.failed_sum)]
  const totalOf = (count: number, sum: bigint) => ({ count, sum: exactNumber(sum, settings.decimals) })
  return {
    ...totalOf(total.paid_count + total.failed_count, paid + failed),
    paid: totalOf(total.paid_count, paid),
    failed: totalOf(total.failed_count, failed),
  }
}

const NOBODY: Problems = {
  affiliate_id:
    'must be the identifier of an existing affiliate, or of a deleted one who is still owed something.',
}

/** @param before the payout that is edited: if its affiliate was deleted, the payout stays theirs */
async function missingIn(
  db: Db,
  { affiliate_id }: Partial<CreateArguments>,
  before?: PayoutRow,
): Promise<Problems> {
  const isOther = affiliate_id !== undefined && affiliate_id !== before?.affiliate_id
  const isUnknown =
    isOther && !(await affiliates.isThere(db, affiliate_id)) && (await owedTo(db, affiliate_id)) <= 0n
  return isUnknown ? NOBODY : {}
}

/**
 * What a payout does to the referrals that it names. Whether an identifier is a referral of this service is decided when a
 * payout first names it, and stays so. A paid payout pays its known referrals, and any difference to its amount
 * comes from elsewhere; a payout that fails or is deleted makes its referrals unpaid again.
 */
import { Failure } from '../../base/errors.ts'
import { MAX_AMOUNT, mostUnits } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import type { Reason } from '../ledger/because.ts'
import type { Payment } from '../ledger/holdings.ts'
import { type Change, postPayout, postPayouts } from '../ledger/rules.ts'
import { type Referral, referral } from '../referrals/referral.ts'
import { lockReferrals, setPaying } from '../referrals/store.ts'
import { runsOf } from '../runs/store.ts'
import type { Payout } from './payout.ts'
import type { Names } from './store.ts'

/** The columns of a payout that decide what it pays. */
export interface Standing {
  readonly affiliate_id: number
  readonly status: Payout['status']
  readonly amount: number
  readonly names: Names
}

/** What a payout is going to do. */
export interface Plan {
  readonly id: number | undefined
  readonly before: Standing | undefined
  readonly after: Standing | undefined
  /** The sum of its known referrals. */
  readonly net: bigint
  readonly referrals: ReadonlyMap<number, Referral>
}

/** Locked referrals by their identifiers, and the payout runs that have reserved some of them by their items. */
export interface Locked {
  readonly referrals: ReadonlyMap<number, Referral>
  readonly runs: ReadonlyMap<number, number>
}

/** A payout as an edit asks for it; an omitted amount follows the known referrals. */
export type TargetPayout = Omit<Standing, 'amount' | 'names'> & {
  readonly amount: number | undefined
  readonly referrals: readonly number[]
}

/** Locks the referrals that a payout names, and those that it named before, until the transaction ends. */
export async function lockNamed(
  tx: WriteTx,
  before: Pick<Standing, 'names'> | undefined,
  target: Pick<TargetPayout, 'referrals'> | undefined,
): Promise<Locked> {
  const knownBefore = before ? [...before.names].filter(([, isKnown]) => isKnown).map(([name]) => name) : []
  const referrals = await lockReferrals(tx, [...new Set([...knownBefore, ...(target?.referrals ?? [])])])
  const items = [...referrals.values()].filter(isReserved).map(row => row.run_item_id)
  return { referrals, runs: await runsOf(tx, [...new Set(items)]) }
}

/**
 * Checks whether a payout can pay what it names.
 * @param locked the referrals that it names or named
 * @throws Failure payout_conflict naming each referral that it cannot pay
 */
export function plan(
  locked: Locked,
  id: number | undefined,
  before: Standing | undefined,
  target: TargetPayout | undefined,
  { earning, decimals }: Settings,
): Plan {
  const { referrals } = locked
  if (!target) return { id, before, after: undefined, net: 0n, referrals }
  const names = new Map(target.referrals.map(name => [name, before?.names.get(name) ?? referrals.has(name)]))
  if (earning.unknownReferrals === 'refuse') refuseUnknown(names, before)
  refuseUnpayable(locked, names, id, before, target)
  const knownReferrals = [...names].flatMap(([name, isKnown]) => (isKnown ? (referrals.get(name) ?? []) : []))
  const net = knownReferrals.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  if (net < 0n && (target.status === 'paid' || target.amount === undefined)) {
    throw new Failure('payout_conflict', {
      message:
        'Together these referrals come to less than 0: leave them for a later payout, which they lower.',
    })
  }
  if (target.amount === undefined && net > mostUnits(decimals)) {
    throw new Failure('payout_conflict', {
      message: `Together these referrals come to more than one payout can be, ${MAX_AMOUNT}: pay them by several.`,
    })
  }
  return { id, before, after: { ...target, amount: target.amount ?? Number(net), names }, net, referrals }
}

/** Identifiers that it named before are allowed. */
function refuseUnknown(names: Names, before: Standing | undefined): void {
  const unknown = [...names].filter(([name, known]) => !known && !before?.names.has(name))
  refuseReferrals(Object.fromEntries(unknown.map(([name]) => [name, 'does not exist.'])))
}

function refuseUnpayable(
  locked: Locked,
  names: Names,
  id: number | undefined,
  before: Standing | undefined,
  { affiliate_id, status }: TargetPayout,
): void {
  const isMoved = affiliate_id !== before?.affiliate_id
  const begins = status === 'paid' && before?.status === 'failed'
  const problems: Record<string, string> = {}
  for (const [name, known] of names) {
    if (!known || !(isMoved || begins || !before?.names.has(name))) continue
    const problem = problemOf(locked, name, affiliate_id, id)
    if (problem !== undefined) problems[name] = problem
  }
  refuseReferrals(problems)
}

/** @param problems a sentence by the identifier of the referral */
function refuseReferrals(problems: Readonly<Record<string, string>>): void {
  const sentences = Object.entries(problems).map(([name, problem]) => `Referral ${name} ${problem}`)
  if (sentences.length === 0) return
  throw new Failure('payout_conflict', { message: sentences.join(' '), data: { referrals: problems } })
}

/** Whether an approved payout run is about to pay it. */
const isReserved = ({ status, run_item_id }: Referral) => status === 'unpaid' && run_item_id !== 0

function problemOf(
  { referrals, runs }: Locked,
  id: number,
  affiliateId: number,
  payoutId: number | undefined,
) {
  const row = referrals.get(id)
  if (!row) return 'was deleted.'
  if (row.affiliate_id !== affiliateId) return `belongs to affiliate ${row.affiliate_id}.`
  const run = runs.get(row.run_item_id)
  if (run !== undefined) return `is in payout run ${run}, which is approved.`
  if (row.status === 'unpaid') return undefined
  if (row.status !== 'paid') return `is ${row.status}.`
  return row.payout_id === 0 || row.payout_id === payoutId ? undefined : `is paid by payout ${row.payout_id}.`
}

/** Posts payouts that pay no known referral. */
export async function postAlone(
  tx: WriteTx,
  all: readonly { readonly id: number; readonly planned: Plan; readonly eventId: number }[],
): Promise<void> {
  const payments = all.map(({ id: payoutId, planned: { after, net }, eventId }) => ({
    ...paymentOf(after!, net),
    payoutId,
    eventId,
  }))
  await postPayouts(tx, payments, 'payout.create')
}

/** Pays referrals, or makes them unpaid again, as planned, and posts the moves. */
export async function carryOut(
  tx: WriteTx,
  id: number,
  { before, after, net, referrals }: Plan,
  cause: { readonly reason: Reason; readonly eventId: number },
  settings: Settings,
): Promise<void> {
  const updated_at = now()
  const pays = ({ id: name }: Referral) => after?.status === 'paid' && after.names.get(name) === true
  const changes: Change[] = []
  const paid: number[] = []
  const returned: number[] = []
  for (const row of referrals.values()) {
    const isPaid = row.payout_id === id
    if (pays(row) === isPaid) continue
    const change = isPaid
      ? ({ status: 'unpaid', payout_id: 0, updated_at } as const)
      : ({ status: 'paid', payout_id: id, updated_at } as const)
    ;(isPaid ? returned : paid).push(row.id)
    const updated = { ...row, ...change }
    changes.push({ before: row, after: updated })
    tx.log(isPaid ? 'referral.return' : 'referral.pay', row.id, {
      before: referral.logged(row, settings),
      after: referral.logged(updated, settings),
    })
  }
  if (paid.length > 0) await setPaying(tx, paid, { status: 'paid', payout_id: id, updated_at })
  if (returned.length > 0) await setPaying(tx, returned, { status: 'unpaid', payout_id: 0, updated_at })
  const paidBefore = [...referrals.values()].reduce(
    (sum, row) => sum + (row.payout_id === id ? BigInt(row.amount) : 0n),
    0n,
  )
  await postPayout(
    tx,
    changes,
    { before: before && paymentOf(before, paidBefore), after: after && paymentOf(after, net) },
    { ...cause, payoutId: id },
  )
}

function paymentOf({ affiliate_id, status, amount, names }: Standing, net: bigint): Payment {
  const external = names.size === 0 || [...names.values()].includes(false)
  return { affiliateId: affiliate_id, status, amount: BigInt(amount), net, external }
}

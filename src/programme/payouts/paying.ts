/**
 * What a payout means for the referrals that it names. Whether an identifier is a referral of this service is decided
 * when a payout first names it, and stays with the payout. A paid payout pays its known referrals, and what it is
 * beyond them comes from elsewhere; one that fails or is deleted gives them back.
 */
import { Failure } from '../../base/errors.ts'
import type { Settings } from '../../base/settings.ts'
import { now } from '../../base/time.ts'
import type { WriteTx } from '../../events/write.ts'
import type { Payment } from '../ledger/holdings.ts'
import { type Change, postPayout, postPayouts } from '../ledger/rules.ts'
import { type Referral, referral } from '../referrals/referral.ts'
import { holdReferrals, settle } from '../referrals/store.ts'
import type { Payout } from './payout.ts'
import type { Names } from './store.ts'

/** What of a payout decides what it pays. */
export interface Standing {
  readonly affiliate_id: number
  readonly status: Payout['status']
  readonly amount: number
  readonly names: Names
}

/** What a payout is about to mean. */
export interface Plan {
  readonly id: number | undefined
  readonly before: Standing | undefined
  readonly after: Standing | undefined
  /** What its known referrals come to. */
  readonly net: bigint
  readonly held: ReadonlyMap<number, Referral>
}

/** As edits see it: the amount follows the known referrals where it is left out. */
export type Wanted = Omit<Standing, 'amount' | 'names'> & {
  readonly amount: number | undefined
  readonly referrals: readonly number[]
}

/** Holds the referrals that a payout names and named until the transaction ends. */
export function holdNamed(
  tx: WriteTx,
  before: Pick<Standing, 'names'> | undefined,
  wanted: Pick<Wanted, 'referrals'> | undefined,
): Promise<ReadonlyMap<number, Referral>> {
  const knownBefore = before ? [...before.names].filter(([, known]) => known).map(([name]) => name) : []
  return holdReferrals(tx, [...new Set([...knownBefore, ...(wanted?.referrals ?? [])])])
}

/**
 * Looks whether a payout can pay what it names.
 * @param held those that it names and named
 * @throws Failure payout_conflict naming each referral that it can't pay
 */
export function plan(
  held: ReadonlyMap<number, Referral>,
  id: number | undefined,
  before: Standing | undefined,
  wanted: Wanted | undefined,
  { earning }: Settings,
): Plan {
  if (!wanted) return { id, before, after: undefined, net: 0n, held }
  const names = new Map(wanted.referrals.map(name => [name, before?.names.get(name) ?? held.has(name)]))
  if (earning.unknownReferrals === 'refuse') refuseUnknown(names, before)
  refuseUnpayable(held, names, id, before, wanted)
  const known = [...names].flatMap(([name, isKnown]) => (isKnown ? (held.get(name) ?? []) : []))
  const net = known.reduce((sum, { amount }) => sum + BigInt(amount), 0n)
  if (net < 0n && (wanted.status === 'paid' || wanted.amount === undefined)) {
    throw new Failure('payout_conflict', {
      message:
        'Together these referrals come to less than 0: leave them for a later payout, which they lower.',
    })
  }
  return { id, before, after: { ...wanted, amount: wanted.amount ?? Number(net), names }, net, held }
}

/** What it named before stays. */
function refuseUnknown(names: Names, before: Standing | undefined): void {
  const unknown = [...names].filter(([name, known]) => !known && !before?.names.has(name))
  refuseReferrals(Object.fromEntries(unknown.map(([name]) => [name, 'does not exist.'])))
}

function refuseUnpayable(
  held: ReadonlyMap<number, Referral>,
  names: Names,
  id: number | undefined,
  before: Standing | undefined,
  { affiliate_id, status }: Wanted,
): void {
  const isMoved = affiliate_id !== before?.affiliate_id
  const begins = status === 'paid' && before?.status === 'failed'
  const problems: Record<string, string> = {}
  for (const [name, known] of names) {
    if (!known || !(isMoved || begins || !before?.names.has(name))) continue
    const problem = problemOf(held.get(name), affiliate_id, id)
    if (problem !== undefined) problems[name] = problem
  }
  refuseReferrals(problems)
}

/** @param problems sentences by the identifier of the referral that they are about */
function refuseReferrals(problems: Readonly<Record<string, string>>): void {
  const sentences = Object.entries(problems).map(([name, problem]) => `Referral ${name} ${problem}`)
  if (sentences.length === 0) return
  throw new Failure('payout_conflict', { message: sentences.join(' '), data: { referrals: problems } })
}

function problemOf(row: Referral | undefined, affiliateId: number, payoutId: number | undefined) {
  if (!row) return 'was deleted.'
  if (row.affiliate_id !== affiliateId) return `belongs to affiliate ${row.affiliate_id}.`
  if (row.status === 'unpaid') return row.run_item_id === 0 ? undefined : 'is in an approved payout run.'
  if (row.status !== 'paid') return `is ${row.status}.`
  return row.payout_id === 0 || row.payout_id === payoutId ? undefined : `is paid by payout ${row.payout_id}.`
}

/** Posts what payouts that pay no known referral stand for. */
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

/** Pays and gives back what the plan says, and posts it. */
export async function carryOut(
  tx: WriteTx,
  id: number,
  { before, after, net, held }: Plan,
  cause: { readonly reason: `payout.${'create' | 'edit' | 'delete'}`; readonly eventId: number },
  settings: Settings,
): Promise<void> {
  const updated_at = now()
  const pays = ({ id: name }: Referral) => after?.status === 'paid' && after.names.get(name) === true
  const changes: Change[] = []
  const paid: number[] = []
  const returned: number[] = []
  for (const row of held.values()) {
    const isPaid = row.payout_id === id
    if (pays(row) === isPaid) continue
    const change = isPaid
      ? ({ status: 'unpaid', payout_id: 0, updated_at } as const)
      : ({ status: 'paid', payout_id: id, updated_at } as const)
    ;(isPaid ? returned : paid).push(row.id)
    const changed = { ...row, ...change }
    changes.push({ before: row, after: changed })
    tx.log(isPaid ? 'referral.return' : 'referral.pay', row.id, {
      before: referral.logged(row, settings),
      after: referral.logged(changed, settings),
    })
  }
  if (paid.length > 0) await settle(tx, paid, { status: 'paid', payout_id: id, updated_at })
  if (returned.length > 0) await settle(tx, returned, { status: 'unpaid', payout_id: 0, updated_at })
  const was = [...held.values()].reduce(
    (sum, row) => sum + (row.payout_id === id ? BigInt(row.amount) : 0n),
    0n,
  )
  await postPayout(
    tx,
    changes,
    { before: before && paymentOf(before, was), after: after && paymentOf(after, net) },
    { ...cause, payoutId: id },
  )
}

function paymentOf({ affiliate_id, status, amount, names }: Standing, net: bigint): Payment {
  const external = names.size === 0 || [...names.values()].includes(false)
  return { affiliateId: affiliate_id, status, amount: BigInt(amount), net, external }
}

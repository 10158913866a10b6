/**
 * Batches of conversions in one transaction. Independent ones are recorded concurrently: where a statement is a round
 * trip to the database, they share round trips. Those that share a payment or a customer are recorded one after the
 * other, in the order they were sent; if tiers count earlier sales, those of an affiliate take turns in this order.
 * See docs/decisions/lines.md and tiers.md.
 */
import { type Failure, refusalOf } from '../../base/errors.ts'
import type { Settings } from '../../base/settings.ts'
import { foldCase } from '../../base/text.ts'
import { type RequestContext, type WriteTx, write } from '../../events/write.ts'
import { AT_ONCE } from '../../storage/concurrently.ts'
import type { Tx } from '../../storage/database.ts'
import { insertTogether } from '../../storage/insert-many.ts'
import { lockSales } from '../commission/judging.ts'
import { forEachInTurns } from '../commission/turns.ts'
import { customers } from '../customers/store.ts'
import { postTogether } from '../ledger/rules.ts'
import { hasEvidence } from './claims.ts'
import { isEarning, isReversal } from './conversion.ts'
import { namesOf, refuseWrong } from './fact.ts'
import { Groups } from './groups.ts'
import { keepNames, lockNames, newPaymentId } from './names-store.ts'
import { Payments } from './payments.ts'
import * as store from './relations-store.ts'
import { type Created, createIn } from './rules.ts'
import type { CreateArguments } from './schema.ts'

interface Line {
  readonly place: number
  readonly args: CreateArguments
  readonly names: readonly string[]
  readonly context: string
  /** Of a new payment. */
  readonly paymentId: string
}

/** @throws Failure as `create` does, for the first that fails for a reason only the database knows */
export async function createMany(
  context: RequestContext,
  all: readonly CreateArguments[],
  payments = new Payments(),
): Promise<(Created | Failure)[]> {
  return write(context, async tx => {
    const settings = await context.settings.lock(tx)
    const refusals = all.map(args => knownRefusal(args, settings))
    const lines = all.flatMap((args, place) => (refusals[place] ? [] : [lineOf(args, place)]))
    const created = new Map<number, Created>()
    // So few find their affiliates before any of them posts; of more, some would lock theirs after others have posted.
    const areFew = lines.length <= AT_ONCE && lines.every(({ args }) => isEarning(args.kind))
    const takeTurns = await lockSales(tx, settings, areFew ? [] : 'all')
    const { groups, alone, known } = await relationsOf(tx, lines)
    const apart = takeTurns ? new Set([...alone, ...dependent(lines, groups, known)]) : alone
    await tx.expectEvents(lines.filter(one => isEarning(one.args.kind) && !known.has(one.paymentId)).length)
    const record = () =>
      forEachInTurns(tx, wavesOf(lines, groups, apart), async group => {
        for (const { place, args, paymentId } of group) {
          const circumstances = { isNew: !known.has(paymentId), payments, place }
          created.set(place, await createIn(tx, settings, args, circumstances))
        }
      })
    await postTogether(tx, () => insertTogether(tx, record))
    return refusals.map((refusal, place) => refusal ?? created.get(place)!)
  })
}

/** Failures that are known before anything is read. */
function knownRefusal(args: CreateArguments, settings: Settings): Failure | undefined {
  // It has the currency of its sale.
  if (isReversal(args.kind) && !args.currency) return undefined
  return refusalOf(() => refuseWrong(args, settings))
}

function lineOf(args: CreateArguments, place: number): Line {
  return { place, args, ...namesOf(args), paymentId: newPaymentId() }
}

interface Relations {
  readonly groups: Groups
  /** Lines that may change what others result in. */
  readonly alone: ReadonlySet<number>
  /** Payments of the lines with a name that was known, or that another line has. */
  readonly known: ReadonlySet<string>
}

/** Which lines share a payment or a customer. */
async function relationsOf(tx: WriteTx, lines: readonly Line[]): Promise<Relations> {
  const groups = new Groups()
  const known = new Set<string>()
  const rows = new Map<string, { context: string; name: string; payment_id: string }>()
  for (const { place, context, names, paymentId } of lines) {
    for (const name of names) {
      const key = `name ${context}\n${name}`
      groups.join(place, key)
      if (!rows.has(key)) rows.set(key, { context, name, payment_id: paymentId })
      else if (rows.get(key)!.payment_id !== paymentId) known.add(paymentId)
    }
  }
  const stored = new Set<string>()
  for (const { context, name, payment_id } of await keepNames(tx, [...rows.values()])) {
    const key = `name ${context}\n${name}`
    const own = rows.get(key)!.payment_id
    if (own !== payment_id) {
      known.add(own)
      stored.add(payment_id)
    }
    groups.join(key, `payment ${payment_id}`)
  }
  const crediting = [...(await joinCustomers(tx, lines, groups)), ...joiningOf(lines, groups, stored)]
  return { groups, known, alone: new Set(crediting) }
}

/**
 * Lines that join payments, follow an attribution, or claim what was reported before: an attribution that has waited, or
 * such a claim, may credit a sale, and whatever the same customer has bought since.
 * @param stored payments that earlier requests have reported
 */
function joiningOf(lines: readonly Line[], groups: Groups, stored: ReadonlySet<string>): number[] {
  const roots = Map.groupBy(stored, id => groups.rootOf(`payment ${id}`))
  const attributed = new Set(
    lines.filter(({ args }) => args.kind === 'attribution').map(({ place }) => groups.rootOf(place)),
  )
  const isJoining = ({ place, args }: Line) => {
    const root = groups.rootOf(place)
    const { length } = roots.get(root) ?? []
    return attributed.has(root) || length > 1 || (length === 1 && hasEvidence(args))
  }
  return lines.filter(isJoining).map(({ place }) => place)
}

/** Locks the payments and customers of conversions that are then recorded one by one. */
export async function lockAll(
  context: RequestContext,
  tx: Tx,
  all: readonly CreateArguments[],
): Promise<void> {
  await lockSales(tx, await context.settings.lock(tx), 'all')
  const lines = all.map(lineOf)
  await lockNames(tx, lines)
  await lockCustomers(tx, lines)
}

/** The customers that the lines name. */
async function lockCustomers(tx: Tx, lines: readonly Line[]) {
  const called = lines.flatMap(({ args, context }) =>
    args.customer?.id ? [{ context, name: args.customer.id }] : [],
  )
  const emails = [...new Set(lines.map(({ args }) => foldCase(args.customer?.email ?? '')))].filter(Boolean)
  const named = await store.customersNamed(tx, called)
  const ids = [...new Set(named.map(({ customer_id }) => customer_id))]
  const known = await store.customersAmong(tx, emails, ids)
  // All at once: concurrent transactions that took them line by line would deadlock.
  if (known.length > 0) await customers.lockAll(tx, [...new Set(known.map(({ id }) => id))])
  return { named, known }
}

/** @returns the lines that credit earlier reports */
async function joinCustomers(tx: WriteTx, lines: readonly Line[], groups: Groups): Promise<Set<number>> {
  for (const { place, args, context } of lines) {
    if (args.customer?.id) groups.join(place, `called ${context}\n${args.customer.id}`)
    if (args.customer?.email) groups.join(place, `email ${foldCase(args.customer.email)}`)
  }
  const { named, known } = await lockCustomers(tx, lines)
  for (const { context, name, customer_id } of named) {
    groups.join(`called ${context}\n${name}`, `customer ${customer_id}`)
  }
  const unowned = new Set<string | number>()
  for (const { id, email_key, affiliate_id } of known) {
    if (email_key !== '') groups.join(`email ${email_key}`, `customer ${id}`)
    if (affiliate_id === null) unowned.add(groups.rootOf(`customer ${id}`))
  }
  const roots = new Set([...unowned].map(root => groups.rootOf(root)))
  return new Set(
    lines
      .filter(({ place, args }) => args.kind === 'attribution' || roots.has(groups.rootOf(place)))
      .map(({ place }) => place),
  )
}

/** Lines that others depend on, and those that may change what affiliates have sold without waiting for their turn. */
function dependent(lines: readonly Line[], groups: Groups, known: ReadonlySet<string>): number[] {
  const byRoot = Map.groupBy(lines, ({ place }) => groups.rootOf(place))
  return lines
    .filter(
      ({ place, args, paymentId }) =>
        !isEarning(args.kind) || known.has(paymentId) || byRoot.get(groups.rootOf(place))!.length > 1,
    )
    .map(({ place }) => place)
}

/** Groups to record concurrently; lines of one group stay in order. */
function* wavesOf(
  lines: readonly Line[],
  groups: Groups,
  alone: ReadonlySet<number>,
): Generator<readonly (readonly Line[])[]> {
  let wave: Line[] = []
  const grouped = () => [...Map.groupBy(wave, ({ place }) => groups.rootOf(place)).values()]
  for (const line of lines) {
    if (!alone.has(line.place)) {
      wave.push(line)
      continue
    }
    yield grouped()
    wave = []
    yield [[line]]
  }
  yield grouped()
}

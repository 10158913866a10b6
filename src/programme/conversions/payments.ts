/**
 * Cache of payments within a request. A report needs all earlier reports of its payment: of many reports in one
 * transaction only the first reads them, and in the transactions after it only where there are others.
 */
import { Failure } from '../../base/errors.ts'
import type { Db, Tx } from '../../storage/database.ts'
import type { Referral } from '../referrals/referral.ts'
import type { Conversion } from './conversion.ts'
import { namesOf } from './fact.ts'
import { lockNamed, type Names, namePayment } from './names-store.ts'
import type { CreateArguments } from './schema.ts'
import * as store from './store.ts'

/** Conversions per payment: the balance is computed from all of them. */
export const MOST_MEMBERS = 600
/** Where refunds in parts end, so that there is room for totals, disputes and their ends. */
export const MOST_WITH_PARTS = 500
/** Names per payment: each report holds them all. */
const MOST_NAMES = 1000
/** Conversions kept from one transaction to the next: a request may name a thousand large payments. */
const MOST_KEPT = 10_000

/** All reports of a payment, locked against other reports until the transaction ends. */
export interface Payment {
  /** Empty while nothing has been reported. */
  readonly id: string
  /** The payment's conversions, in order. */
  readonly members: readonly Conversion[]
  /** The payment's referrals, once they are locked. */
  readonly referrals?: readonly Referral[]
}

/** A payment of which nothing was reported before. */
export const UNKNOWN: Payment = { id: '', members: [], referrals: [] }

/** A payment by its identifier, without its referrals. */
export const readPayment = async (db: Db, id: string): Promise<Payment> => ({
  id,
  members: await store.membersOf(db, id, MOST_MEMBERS),
})

/** The payment's referrals, locked until the transaction ends. */
export const lockReferrals = async (tx: Tx, { id, referrals }: Payment): Promise<readonly Referral[]> =>
  referrals ?? store.lockReferralsOf(tx, id)

export class Payments {
  readonly #byId = new Map<string, Payment>()
  readonly #ids = new Map<string, string>()
  /** As committed transactions left them, those used last at the end. */
  readonly #before = new Map<string, Payment>()
  /** Undoes what the last report has changed here. */
  #undo: (() => void)[] = []

  begin(): void {
    this.#byId.clear()
    this.#ids.clear()
    this.#undo = []
  }

  committed(): void {
    for (const [id, payment] of this.#byId) {
      this.#before.delete(id)
      this.#before.set(id, payment)
    }
    let kept = [...this.#before.values()].reduce((sum, { members }) => sum + members.length, 0)
    for (const [id, { members }] of this.#before) {
      if (kept <= MOST_KEPT) break
      this.#before.delete(id)
      kept -= members.length
    }
  }

  /**
   * The payment with any of these names, all of which belong to it from now on.
   * @throws Failure conversion_conflict
   */
  async name(tx: Tx, names: Names): Promise<Payment> {
    const known = this.#named(names)
    if (known) return known
    const { id, others, count, isLonger } = await namePayment(tx, names)
    if (isLonger && count > MOST_NAMES) {
      throw new Failure('conversion_conflict', {
        message: `A payment has at most ${MOST_NAMES} names: report it under one that it has.`,
      })
    }
    if (id === undefined) return UNKNOWN
    if (others.length === 0) return this.#byId.get(id) ?? this.#read(tx, id)
    // They are merged into one payment.
    for (const one of [id, ...others]) this.#set(this.#byId, one, undefined)
    return readPayment(tx, id)
  }

  /** What the next report of the payment begins with. */
  keep(payment: Payment, { context, names }: Names): void {
    if (payment.id === '') return
    this.#set(this.#byId, payment.id, payment)
    for (const name of names) this.#set(this.#ids, keyOf(context, name), payment.id)
  }

  /** Locks and reads the payment of a report, so that it stays known when the report fails. */
  async lock(tx: Tx, args: CreateArguments): Promise<void> {
    const sent = namesOf(args)
    const named = this.#named(sent) ? undefined : await lockNamed(tx, sent)
    if (named) this.keep(this.#byId.get(named.id) ?? (await this.#read(tx, named.id)), named)
    this.#undo = []
  }

  /** The report after the last `lock` has failed, and is taken back. */
  takeBack(): void {
    for (const undo of this.#undo.toReversed()) undo()
    this.#undo = []
  }

  async #read(tx: Tx, id: string): Promise<Payment> {
    const members = this.#before.get(id)?.members
    const isCurrent = members && store.versionOf(members) === (await store.readVersion(tx, id))
    return isCurrent ? { id, members } : readPayment(tx, id)
  }

  /** Where all of the names are known to be of one payment. */
  #named({ context, names }: Names): Payment | undefined {
    const ids = new Set(names.map(name => this.#ids.get(keyOf(context, name))))
    const [id] = ids
    return ids.size === 1 && id !== undefined ? this.#byId.get(id) : undefined
  }

  #set<V>(map: Map<string, V>, key: string, value: V | undefined): void {
    const before = map.get(key)
    this.#undo.push(() => put(map, key, before))
    put(map, key, value)
  }
}

function put<V>(map: Map<string, V>, key: string, value: V | undefined): void {
  if (value === undefined) map.delete(key)
  else map.set(key, value)
}

const keyOf = (context: string, name: string) => `${context}\n${name}`

/** Payouts of the demo: those of its beginning are for referrals of another system, as after a move to this one. */
import { sql } from 'kysely'
import { foldAccents } from '../../base/text.ts'
import { payouts, unknownNames } from '../../programme/payouts/store.ts'
import type { Database, Tx } from '../../storage/database.ts'
import { paidElsewhere } from '../../storage/migrations/earning.ts'
import { type Chance, pick } from './random.ts'

const METHODS = ['paypal', 'paypal', 'bank transfer', 'bank transfer', 'store credit']
const MOST_NAMED = 4
const FAILED = 0.05

export interface Payer {
  /** Affiliates who earn, in the order in which they registered. */
  readonly earners: readonly number[]
  /** The account that records them. */
  readonly owner: number
  /** How many payouts the demo has. */
  readonly total: number
}

/**
 * @param part how far into the demo's time, from 0 to 1
 * @returns an affiliate who was registered by then, more likely an early one
 */
export function earnerAt(earners: readonly number[], part: number, { random }: Chance): number {
  return earners[Math.floor(random() ** 2 * Math.ceil(part * earners.length))]!
}

export function payoutRow(
  affiliate_id: number,
  { time, owner, referrals, amount }: { time: number; owner: number; referrals: string; amount: number },
  { random }: Chance,
) {
  const method = pick(METHODS, random)
  return {
    affiliate_id,
    referrals,
    amount,
    payout_method: method,
    run_item_id: 0,
    payout_method_key: foldAccents(method),
    reference: '',
    note: '',
    status: random() < FAILED ? ('failed' as const) : ('paid' as const),
    owner,
    created_at: time,
    updated_at: time,
  }
}

export const paidAmount = ({ random }: Chance) => 500 + Math.floor(random() ** 3 * 100_000)

/** Makes payouts of another system's referrals. */
export class PaidElsewhere {
  readonly #payer: Payer
  readonly #chance: Chance
  /** The last referral that one of them names. */
  last = 0

  constructor(payer: Payer, chance: Chance) {
    this.#payer = payer
    this.#chance = chance
  }

  /** @param numbers of the payouts, from 1 */
  async add(tx: Tx, numbers: readonly number[]): Promise<void> {
    const { earners, owner, total } = this.#payer
    const rows = numbers.map(number => {
      const count = 1 + Math.floor(this.#chance.random() * MOST_NAMED)
      const referrals = Array.from({ length: count }, (_, index) => this.last + 1 + index).join(',')
      this.last += count
      const part = number / total
      const of = { time: this.#chance.timeAt(part), owner, referrals, amount: paidAmount(this.#chance) }
      return payoutRow(earnerAt(earners, part, this.#chance), of, this.#chance)
    })
    await payouts.insertMany(tx, rows, rows.map(unknownNames))
  }

  /** Posts them, once all of them are there. */
  async post(database: Database): Promise<void> {
    await database.transaction(async tx => {
      for (const statement of paidElsewhere()) await sql.raw(statement).execute(tx)
    })
  }
}

/** Random lives of a sale, and by another way than the service has what is owed for it. */
import fc from 'fast-check'

export const decimals: Readonly<Record<string, number>> = { USD: 2, JPY: 0, KWD: 3 }
/** What one whole unit is worth in any other currency of these: cheap in the one, dear in the other. */
const worth: Readonly<Record<string, readonly [bigint, bigint]>> = {
  USD: [1n, 1n],
  JPY: [1n, 100n],
  KWD: [16n, 5n],
}

/** How much of one currency a whole unit of another is, as decimal text. */
export function rateOf(from: string, to: string): string {
  const [[n, d], [m, e]] = [worth[from]!, worth[to]!]
  return String(Number(n * e) / Number(d * m))
}

/** What happens, how often. */
const kinds = {
  refund: 2,
  'total of refunds': 1,
  'total of a charge': 1,
  dispute: 2,
  won: 3,
  'total of disputes': 2,
  again: 1,
  pay: 2,
  'take payout back': 2,
  'pay by hand': 1,
  reject: 3,
  'put back': 2,
  delete: 1,
  'change refund': 1,
  'reject sale': 0.2,
  approve: 1,
  'set amount': 3,
  'dispute for a while': 1,
  'total for a while': 1,
  'reject for a while': 1,
  'put back for a while': 1,
} as const
export type Kind = keyof typeof kinds

export interface Step {
  readonly kind: Kind
  /** Which of those that there are. */
  readonly which: number
  /** Of the sale, in thousandths. */
  readonly share: number
  /** Reported as of before the last. */
  readonly isLate: boolean
}

export interface Life {
  readonly currency: string
  /** What was paid, in its minor unit. */
  readonly paid: number
  /** In ten-thousandths. */
  readonly rate: number
  /** Whether a person sets amounts of the sale's referral; else all is known at the cent. */
  readonly isSet: boolean
  /** The step before which the sale is reported. */
  readonly soldAt: number
  readonly steps: readonly Step[]
}

const share = fc.oneof(
  { weight: 9, arbitrary: fc.integer({ min: 0, max: 350 }) },
  { weight: 1, arbitrary: fc.constant(1000) },
)
const step = (isSet: boolean): fc.Arbitrary<Step> =>
  fc.record({
    kind: fc.oneof(
      ...Object.entries(kinds)
        // What a person makes of a refund has no bound, and an amount that is set no exact value.
        .filter(([kind]) => kind !== (isSet ? 'change refund' : 'set amount'))
        .map(([kind, often]) => ({ weight: Math.round(often * 10), arbitrary: fc.constant(kind as Kind) })),
    ),
    which: fc.nat(10_000),
    share,
    isLate: fc.integer({ min: 0, max: 6 }).map(number => number === 0),
  })

export const lives = (isSet: boolean): fc.Arbitrary<Life> =>
  fc.record({
    currency: fc.constantFrom(...Object.keys(decimals)),
    // Of the smallest, an amount that is set stands for no share that could be told.
    paid: fc.integer({ min: isSet ? 5000 : 1, max: 20_000 }),
    rate: fc.constantFrom(1000, 2000, 3333, 725, ...(isSet ? [] : [1])),
    isSet: fc.constant(isSet),
    soldAt: fc.oneof({ weight: 3, arbitrary: fc.constant(0) }, { weight: 1, arbitrary: fc.nat(6) }),
    steps: fc.array(step(isSet), { minLength: 20, maxLength: 60, size: 'max' }),
  })

/** A report that takes something back, or ends that. */
export interface Reversal {
  readonly id: number
  readonly kind: 'refund' | 'dispute' | 'dispute_won'
  readonly part: string
  readonly isTotal: boolean
  readonly amount: bigint
  readonly at: number
}

const sum = (amounts: readonly bigint[]) => amounts.reduce((total, one) => total + one, 0n)
const largest = (amounts: readonly bigint[]) => amounts.reduce((most, one) => (one > most ? one : most), 0n)

/** Half to even. */
function nearest(numerator: bigint, denominator: bigint): bigint {
  const [below, rest] = [numerator / denominator, 2n * (numerator % denominator)]
  return rest > denominator || (rest === denominator && below % 2n === 1n) ? below + 1n : below
}

/** What is owed for a sale as long as nobody sets its amount. */
export class Book {
  readonly reversals: Reversal[] = []
  /** What persons have given back of reports, and taken besides. */
  readonly #decided = new Map<number, bigint>()
  /** How much more than all that it earns they have made the most. */
  #given = 0n
  readonly #life: Life
  readonly #programme: string
  #left: bigint

  constructor(life: Life, programme: string) {
    this.#life = life
    this.#programme = programme
    this.#left = BigInt(life.paid)
  }

  /** Of so much of what was paid, in the programme's minor unit. */
  earned(left: bigint): bigint {
    const { currency, paid, rate } = this.#life
    if (paid === 0) return 0n
    const [[n, d], [m, e]] = [worth[currency]!, worth[this.#programme]!]
    const scale = (of: string) => 10n ** BigInt(decimals[of]!)
    return nearest(left * BigInt(rate) * n * e * scale(this.#programme), 10_000n * d * m * scale(currency))
  }

  get most(): bigint {
    return this.earned(BigInt(this.#life.paid))
  }

  /** No more than all that it earns, and what a person has given by changing refunds. */
  get owed(): bigint {
    const owed = this.earned(this.#left) + sum([...this.#decided.values()])
    const most = this.most + this.#given
    return owed < most ? owed : most
  }

  /** Of how many reports persons have decided. */
  get decisions(): number {
    return [...this.#decided.values()].filter(amount => amount !== 0n).length
  }

  /** What the last total of disputes says. */
  get disputedInAll(): bigint {
    const totals = this.reversals.filter(({ kind, isTotal }) => kind === 'dispute' && isTotal)
    const last = Math.max(...totals.map(({ at }) => at))
    return largest(totals.filter(({ at }) => at === last).map(({ amount }) => amount))
  }

  wonOf(part: string): Reversal | undefined {
    return this.reversals.find(one => one.kind === 'dispute_won' && one.part === part)
  }

  /** Whether a dispute takes nothing any more, or not all that it said. */
  #isOver = (one: Reversal) =>
    one.isTotal ? this.disputedInAll < one.amount : this.wonOf(one.part) !== undefined

  #leftOf(reversals: readonly Reversal[]): bigint {
    const refunds = reversals.filter(({ kind }) => kind === 'refund')
    const amounts = (some: readonly Reversal[]) => some.map(({ amount }) => amount)
    const charges = Object.values(
      Object.groupBy(
        refunds.filter(({ isTotal }) => isTotal),
        ({ part }) => part,
      ),
    )
    const whole = refunds.filter(({ isTotal, part }) => isTotal && part === '')
    const refunded = largest([
      sum(amounts(refunds.filter(({ isTotal }) => !isTotal))),
      largest(amounts(whole)),
      sum(charges.map(some => (some![0]!.part === '' ? 0n : largest(amounts(some!))))),
    ])
    const disputes = reversals.filter(({ kind, isTotal }) => kind === 'dispute' && !isTotal)
    const open = sum(amounts(disputes.filter(one => !this.#isOver(one))))
    const all = reversals.some(({ kind, isTotal }) => kind === 'dispute' && isTotal) ? this.disputedInAll : 0n
    const rest = BigInt(this.#life.paid) - refunded - largest([open, all])
    return rest < 0n ? 0n : rest
  }

  reported(reversal?: Reversal): void {
    if (reversal && !this.reversals.some(({ id }) => id === reversal.id)) this.reversals.push(reversal)
    const left = this.#leftOf(this.reversals)
    const isMore = left > this.#left
    this.#left = left
    if (isMore) for (const [id, amount] of this.#ended()) this.#decided.set(id, amount)
  }

  /** Whether what persons have decided about disputes stays as it is when another one ends. */
  get isSettled(): boolean {
    // Of an amount that was set since, it may be another part of the sale.
    const disputes = this.reversals.filter(({ kind }) => kind === 'dispute')
    const unsure = disputes.filter(one => this.#life.isSet && (one.isTotal || this.#isOver(one)))
    if (unsure.some(({ id }) => this.#decided.get(id))) return false
    return this.#ended().every(([id, amount]) => (this.#decided.get(id) ?? 0n) === amount)
  }

  /** What was given back of a dispute ends with it; of totals, as much stays as is still disputed. */
  #ended(): [id: number, amount: bigint][] {
    const disputes = this.reversals.filter(({ kind }) => kind === 'dispute')
    const given = ({ id }: Reversal) => this.#decided.get(id) ?? 0n
    const isStanding = (one: Reversal) => !this.#isOver(one)
    const ended: [id: number, amount: bigint][] = []
    const keep = (some: readonly Reversal[], most: bigint) => {
      let rest = most
      for (const one of some.filter(this.#isOver)) {
        const kept = largest([0n, given(one) < rest ? given(one) : rest])
        rest -= kept
        ended.push([one.id, kept])
      }
      return most - rest
    }
    const worthBut = (isOne: (one: Reversal) => boolean) =>
      this.earned(this.#leftOf(this.reversals.filter(one => !isOne(one)))) - this.earned(this.#left)
    const [totals, singles] = [disputes.filter(one => one.isTotal), disputes.filter(one => !one.isTotal)]
    // What the totals take, less what is given back of those that stand or have ended since.
    const inTotals = worthBut(one => totals.includes(one)) - sum(totals.map(given))
    const kept = keep(singles, inTotals)
    const inAll = worthBut(({ kind }) => kind === 'dispute')
    keep(totals, inAll - sum(disputes.filter(isStanding).map(given)) - kept)
    return ended
  }

  /**
   * A person has made more or less of what follows from a report.
   * @param change whether by another amount, and whether of what adds to the sale
   */
  decided(conversion: number, difference: bigint, change: { isSet: boolean; isAddition: boolean }): void {
    const owed = this.owed + difference
    if (change.isSet && difference > 0n) this.#given += difference
    const reversal = this.reversals.find(({ id }) => id === conversion)
    const won = reversal?.kind === 'dispute' && !reversal.isTotal ? this.wonOf(reversal.part) : undefined
    const of = won?.id ?? conversion
    this.#decided.set(of, (this.#decided.get(of) ?? 0n) + difference)
    // What was given back is missing once it is taken, and is there again, also where it was too much.
    if (change.isAddition && this.owed !== owed) this.#given = owed - this.most
  }
}

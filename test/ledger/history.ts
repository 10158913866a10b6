/**
 * Generated histories: operations that the rules do on a real database and the model does beside them. After each, the
 * answers and every figure of every affiliate must agree.
 */
import assert from 'node:assert/strict'
import fc from 'fast-check'
import { type Figures, Model, type Operation, type Refusal, type Status, type Type } from './model.ts'

/** What does the operations for real. */
export interface Programme {
  newAffiliate(): Promise<number>
  /** @returns the identifier of what was created */
  perform(operation: Operation): Promise<{ id: number } | { refusal: Refusal }>
  figures(affiliate: number, isGone: boolean): Promise<Figures>
  /** Everything that a check of the whole finds wrong with these affiliates. */
  problems(affiliates: readonly number[]): Promise<string[]>
}

/** As generated: who and what it is about is the place in a list, which has to be there first. */
type Draft =
  | { do: 'create referral'; affiliate: number; type: Type; status: Status; amount: number }
  | { do: 'edit referral'; referral: number; affiliate?: number; status?: Status; amount?: number }
  | { do: 'delete referral'; referral: number }
  | {
      do: 'create payout'
      affiliate: number
      names: Names
      amount?: number
      status: 'paid' | 'failed'
    }
  | {
      do: 'edit payout'
      payout: number
      affiliate?: number
      names?: Names
      amount?: number
      status?: 'paid' | 'failed'
    }
  | { do: 'delete payout'; payout: number }
  | { do: 'delete affiliate'; affiliate: number }

/** How many of those that can be paid are named, others beside them, and identifiers of another system. */
interface Names {
  payable: number
  others: number[]
  unknown: number[]
}

const AFFILIATES = 3
/** Figures are sums: one that goes wrong stays wrong. */
const COMPARED_EVERY = 4
/** Far above what is given out here. */
const UNKNOWN_FROM = 2_000_000_000_000

const place = fc.nat(1000)
const amount = fc.oneof({ weight: 6, arbitrary: fc.integer({ min: 1, max: 5000 }) }, fc.constant(0))
const ownSign = fc.integer({ min: -3000, max: 1000 })
const status = fc.constantFrom<Status>('pending', 'pending', 'unpaid', 'unpaid', 'paid', 'rejected')
const payoutStatus = fc.constantFrom<'paid' | 'failed'>('paid', 'paid', 'failed')
const rarely = <T>(arbitrary: fc.Arbitrary<T>) =>
  fc.oneof({ weight: 6, arbitrary: fc.constant(undefined) }, arbitrary)
const sometimes = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined, freq: 2 })

const none = fc.constant<number[]>([])

const names: fc.Arbitrary<Names> = fc.record({
  payable: fc.nat(3),
  others: fc.oneof({ weight: 5, arbitrary: none }, fc.array(place, { maxLength: 2 })),
  unknown: fc.oneof({ weight: 2, arbitrary: none }, fc.array(fc.nat(50), { maxLength: 2 })),
})

const drafts: fc.Arbitrary<Draft> = fc.oneof(
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant('create referral' as const),
      affiliate: place,
      type: fc.constantFrom<Type>('sale', 'sale', 'lead', 'opt-in'),
      status,
      amount,
    }),
  },
  {
    weight: 6,
    arbitrary: fc.record({
      do: fc.constant('create referral' as const),
      affiliate: place,
      type: fc.constantFrom<Type>('refund', 'write_off', 'write_off'),
      status,
      amount: ownSign,
    }),
  },
  {
    weight: 25,
    arbitrary: fc.record({ do: fc.constant('edit referral' as const), referral: place, status }),
  },
  {
    weight: 12,
    arbitrary: fc.record({
      do: fc.constant('edit referral' as const),
      referral: place,
      affiliate: rarely(place) as fc.Arbitrary<number>,
      status: sometimes(status) as fc.Arbitrary<Status>,
      amount: sometimes(amount) as fc.Arbitrary<number>,
    }),
  },
  { weight: 8, arbitrary: fc.record({ do: fc.constant('delete referral' as const), referral: place }) },
  {
    weight: 18,
    arbitrary: fc.record({
      do: fc.constant('create payout' as const),
      affiliate: place,
      names,
      amount: sometimes(amount) as fc.Arbitrary<number>,
      status: payoutStatus,
    }),
  },
  {
    weight: 14,
    arbitrary: fc.record({
      do: fc.constant('edit payout' as const),
      payout: place,
      affiliate: rarely(place) as fc.Arbitrary<number>,
      names: sometimes(names) as fc.Arbitrary<Names>,
      amount: sometimes(amount) as fc.Arbitrary<number>,
      status: sometimes(payoutStatus) as fc.Arbitrary<'paid' | 'failed'>,
    }),
  },
  { weight: 6, arbitrary: fc.record({ do: fc.constant('delete payout' as const), payout: place }) },
  {
    weight: 1,
    arbitrary: fc.record({ do: fc.constant('delete affiliate' as const), affiliate: place }),
  },
)

export const histories = (length: number): fc.Arbitrary<Draft[]> =>
  fc.array(drafts, { minLength: length / 2, maxLength: length, size: 'max' })

/** @returns how many operations were done, and how many of them were refused */
export async function run(programme: Programme, history: readonly Draft[]) {
  const model = new Model()
  for (let count = 0; count < AFFILIATES; count += 1) {
    model.affiliates.set(await programme.newAffiliate(), { gone: false })
  }
  const ids = [...model.affiliates.keys()]
  let refused = 0
  for (const [index, draft] of history.entries()) {
    const operation = aimed(draft, model)
    const told = `operation ${index}: ${JSON.stringify(operation)}`
    const outcome = await programme.perform(operation)
    const id = 'id' in outcome ? outcome.id : 0
    const refusal = model.apply(operation, id)
    assert.equal('refusal' in outcome ? outcome.refusal : undefined, refusal, told)
    if (refusal !== undefined) refused += 1
    if (index % COMPARED_EVERY !== 0 && index < history.length - 1) continue
    for (const affiliate of ids) {
      const { gone } = model.affiliates.get(affiliate)!
      assert.deepEqual(await programme.figures(affiliate, gone), model.figures(affiliate), told)
    }
  }
  assert.deepEqual(await programme.problems(ids), [])
  return { done: history.length, refused }
}

/** Places become identifiers; what is about nothing is about one that is not there. */
function aimed(draft: Draft, model: Model): Operation {
  const affiliate = (at: number) => at_(model.affiliates, at)
  const referral = (at: number) => at_(model.referrals, at)
  const payout = (at: number) => at_(model.payouts, at)
  switch (draft.do) {
    case 'create referral':
    case 'delete affiliate':
      return { ...draft, affiliate: affiliate(draft.affiliate) }
    case 'delete referral':
      return { ...draft, referral: referral(draft.referral) }
    case 'delete payout':
      return { ...draft, payout: payout(draft.payout) }
    case 'edit referral': {
      const { affiliate: to, ...rest } = draft
      const id = referral(draft.referral)
      const isSigned = (model.referrals.get(id)?.amount ?? 0) < 0
      return defined({
        ...rest,
        referral: id,
        ...(to !== undefined && { affiliate: affiliate(to) }),
        ...(isSigned && rest.amount !== undefined && { amount: -rest.amount }),
      })
    }
    case 'create payout': {
      const to = affiliate(draft.affiliate)
      return defined({ ...draft, affiliate: to, names: named(draft.names, to, model) })
    }
    case 'edit payout': {
      const id = payout(draft.payout)
      const to = draft.affiliate === undefined ? model.payouts.get(id)?.affiliate : affiliate(draft.affiliate)
      const known = to ?? affiliate(0)
      const names = draft.names && named(draft.names, known, model, id)
      return defined({ ...draft, payout: id, affiliate: known, ...(names && { names }) }) as Operation
    }
  }
}

function named(
  { payable, others, unknown }: Names,
  affiliate: number,
  model: Model,
  payout?: number,
): number[] {
  const can = [...model.referrals].filter(
    ([, one]) =>
      one.affiliate === affiliate &&
      (one.status === 'unpaid' || (one.status === 'paid' && one.payout === undefined)),
  )
  const has = [...(model.payouts.get(payout ?? 0)?.names.keys() ?? [])]
  return [
    ...new Set([
      ...has.slice(0, payable),
      ...can.slice(-payable - 1).map(([id]) => id),
      ...others.map(at => at_(model.referrals, at)),
      ...unknown.map(number => UNKNOWN_FROM + number),
    ]),
  ].filter(id => id > 0)
}

const NOT_THERE = 1_000_000_000

function at_(all: ReadonlyMap<number, unknown>, at: number): number {
  return all.size === 0 ? NOT_THERE : [...all.keys()][at % all.size]!
}

function defined<T extends object>(operation: T): T {
  return Object.fromEntries(Object.entries(operation).filter(([, value]) => value !== undefined)) as T
}

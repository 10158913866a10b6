/**
 * Whatever becomes of a sale (refunds, disputes, what persons decide about them, payouts): no more is owed than it can earn or
 * than a person has set, what is taken and given back again changes nothing, and where nobody sets an amount, all is right at
 * the cent. LONG=1 makes the lives many.
 */
import assert from 'node:assert/strict'
import { before, test } from 'node:test'
import fc from 'fast-check'
import { features } from '../../src/app.ts'
import { Failure } from '../../src/base/errors.ts'
import type { Context, RequestContext } from '../../src/events/write.ts'
import { checkDatabase } from '../../src/operations/check/rules.ts'
import { create } from '../../src/programme/conversions/rules.ts'
import type { CreateArguments } from '../../src/programme/conversions/schema.ts'
import { rules as payouts } from '../../src/programme/payouts/rules.ts'
import type { Referral } from '../../src/programme/referrals/referral.ts'
import { rules as referrals } from '../../src/programme/referrals/rules.ts'
import { describeService, operatorOf } from '../harness.ts'
import { Book, decimals, type Kind, type Life, lives, type Reversal, rateOf, type Step } from './lives.ts'

/** How many of each kind in programmes of which currencies: on PostgreSQL, where each takes longer, few. */
const engines = {
  SQLite: { programmes: Object.keys(decimals), lives: process.env.LONG ? 2000 : 24 },
  PostgreSQL: { programmes: ['KWD'], lives: process.env.LONG ? 500 : 6 },
}
const AT_ONCE = 6
const BEGIN = Date.UTC(2026, 0, 1) / 1000
let number = 0

const amountOf = (units: bigint | number, currency: string) => Number(units) / 10 ** decimals[currency]!
const timeOf = (seconds: number) => new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')
const one = <T>(of: readonly T[], which: number): T | undefined => of[which % of.length]

/** One life of a sale on a service. */
class Player {
  readonly #by: RequestContext & Context
  readonly #life: Life
  readonly #programme: string
  readonly #affiliateId: number
  readonly #names = { context: 'lives', reference: `life-${++number}` }
  readonly #book: Book
  readonly #reports: CreateArguments[] = []
  readonly #payouts: number[] = []
  readonly log: string[] = []
  readonly refused = new Map<Kind, number>()
  #at = BEGIN
  #part = 0
  /** The most that a person has set. */
  #most = 0n
  /** Whether a person has taken what the reports have not. */
  #isTaken = false
  /** Whether one has made more of a refund than it was. */
  #isGiven = false
  #isSold = false

  constructor(by: RequestContext & Context, life: Life, programme: string, affiliateId: number) {
    this.#by = by
    this.#life = life
    this.#programme = programme
    this.#affiliateId = affiliateId
    this.#book = new Book(life, programme)
  }

  async play(): Promise<void> {
    for (const [place, step] of this.#life.steps.entries()) {
      if (place === this.#life.soldAt) await this.#sell()
      await this.#does(step)
      if (this.#isSold) await this.#check()
    }
  }

  async #sell(): Promise<void> {
    const { currency, paid } = this.#life
    await this.#report({
      kind: 'sale',
      ...this.#names,
      affiliate_id: this.#affiliateId,
      amount: amountOf(paid, currency),
      currency,
      occurred_at: timeOf(BEGIN),
    })
    this.#isSold = true
    this.#most = this.#book.most
  }

  async #report(args: CreateArguments, reversal?: Omit<Reversal, 'id'>): Promise<void> {
    const { conversion } = await create(this.#by, args)
    this.#reports.push(args)
    this.log.push(`${args.kind} ${args.amount} ${args.part ?? ''} ${args.cumulative ? 'in all' : ''}`)
    this.#book.reported(reversal && { ...reversal, id: conversion.id })
  }

  #take(
    kind: Reversal['kind'],
    part: string,
    amount: number | bigint,
    { isTotal = false, isLate = false } = {},
  ) {
    this.#at += 60
    const at = isLate ? this.#at - 300 : this.#at
    const { currency } = this.#life
    return this.#report(
      {
        kind,
        ...this.#names,
        ...(part !== '' && { part }),
        ...(isTotal && { cumulative: true }),
        ...(kind !== 'dispute_won' && { amount: amountOf(amount, currency) }),
        currency,
        occurred_at: timeOf(at),
      } as CreateArguments,
      { kind, part, isTotal, amount: BigInt(amount), at },
    )
  }

  async #rows(): Promise<Referral[]> {
    const { reader } = this.#by.database
    const rows = reader.selectFrom('referrals').selectAll().where('affiliate_id', '=', this.#affiliateId)
    return (await rows.orderBy('id').execute()) as Referral[]
  }

  async #owed(): Promise<bigint> {
    const rows = (await this.#rows()).filter(({ status }) => status !== 'rejected')
    return BigInt(rows.reduce((sum, { amount }) => sum + amount, 0))
  }

  async #check(): Promise<void> {
    const [own, ...children] = await this.#rows()
    const owed = await this.#owed()
    if (!this.#life.isSet) {
      const isRejected = own?.status === 'rejected' && own.reason === ''
      assert.equal(owed, isRejected ? 0n : this.#book.owed)
    }
    // Each that was given back was rounded by itself.
    const most = this.#most + BigInt(this.#book.decisions)
    assert.ok(owed <= most || this.#isGiven, `${owed} is owed, which is more than ${this.#most}`)
    const least = -BigInt(children.length)
    assert.ok(owed >= least || this.#isTaken || !this.#life.isSet, `${owed} is owed`)
  }

  /** What is done and undone leaves what was owed. */
  async #forAWhile(work: () => Promise<void>): Promise<void> {
    const before = await this.#owed()
    const { isSettled } = this.#book
    await work()
    if (isSettled) assert.equal(await this.#owed(), before, 'after it was for a while')
  }

  /** @returns whether it was not refused */
  async #tries(kind: Kind, text: string, work: () => Promise<unknown>): Promise<boolean> {
    try {
      await work()
      this.log.push(text)
      return true
    } catch (error) {
      if (!(error instanceof Failure)) throw error
      this.refused.set(kind, (this.refused.get(kind) ?? 0) + 1)
      this.log.push(`${text}: refused, ${error.message}`)
      return false
    }
  }

  async #does(step: Step): Promise<void> {
    if (step.kind in this.#reporting) return this.#reporting[step.kind]!(step)
    if (!this.#isSold) return
    const rows = await this.#rows()
    const [own, ...children] = rows
    if (own) await this.#deciding[step.kind]!(step, own, children)
  }

  #units({ share }: Step): number {
    return Math.round((this.#life.paid * share) / 1000)
  }

  readonly #reporting: Partial<Record<Kind, (step: Step) => Promise<void>>> = {
    refund: step => this.#take('refund', `r${++this.#part}`, this.#units(step), step),
    'total of refunds': step => this.#take('refund', '', this.#units(step), { ...step, isTotal: true }),
    'total of a charge': step =>
      this.#take('refund', `c${step.which % 2}`, this.#units(step), { ...step, isTotal: true }),
    dispute: step => this.#take('dispute', `d${++this.#part}`, this.#units(step), step),
    won: async ({ which }) => {
      const disputes = this.#book.reversals.filter(({ kind, isTotal }) => kind === 'dispute' && !isTotal)
      const dispute = one(disputes, which)
      if (dispute) await this.#take('dispute_won', dispute.part, 0n)
    },
    'total of disputes': step =>
      this.#take('dispute', `t${++this.#part}`, step.which % 3 === 0 ? 0 : this.#units(step), {
        ...step,
        isTotal: true,
      }),
    again: async ({ which }) => {
      const report = one(this.#reports, which)
      if (report) await this.#forAWhile(() => this.#report(report))
    },
    'dispute for a while': step =>
      this.#forAWhile(async () => {
        const part = `w${++this.#part}`
        await this.#take('dispute', part, this.#units(step))
        await this.#take('dispute_won', part, 0n)
      }),
    'total for a while': step =>
      this.#forAWhile(async () => {
        const before = this.#book.disputedInAll
        await this.#take('dispute', `t${++this.#part}`, before + BigInt(this.#units(step)), { isTotal: true })
        await this.#take('dispute', `t${++this.#part}`, before, { isTotal: true })
      }),
  }

  async #edit(kind: Kind, before: Referral, change: { status?: string; amount?: number }): Promise<boolean> {
    const { id } = before
    const done = await this.#tries(kind, `${kind} ${id} of ${before.amount} ${JSON.stringify(change)}`, () =>
      referrals.edit(this.#by, { referral_id: id, ...change } as never),
    )
    if (done && before.parent_id !== 0) {
      const after = (await this.#rows()).find(row => row.id === id)
      this.#decided(before, after)
    }
    return done
  }

  #decided(before: Referral, after: Referral | undefined): void {
    const worth = (row: Referral | undefined) => (row && row.status !== 'rejected' ? row.amount : 0)
    const difference = worth(after) - worth(before)
    const isSet = after !== undefined && after.amount !== before.amount
    this.#book.decided(before.conversion_id, BigInt(difference), { isSet, isAddition: before.amount > 0 })
    // What is put back has the amount that it had, also where less was set since.
    if (difference < 0 && (before.amount > 0 || before.status === 'rejected')) this.#isTaken = true
    if (difference > 0 && isSet) this.#isGiven = true
  }

  readonly #deciding: Partial<
    Record<Kind, (step: Step, own: Referral, children: readonly Referral[]) => Promise<void>>
  > = {
    pay: async ({ kind, which }, own, children) => {
      const row = one([own, own, ...children], which)!
      const args = { affiliate_id: this.#affiliateId, referrals: [row.id], status: 'paid' as const }
      await this.#tries(kind, `pay ${row.id}`, async () => {
        this.#payouts.push((await payouts.create(this.#by, args)).id)
      })
    },
    'take payout back': async ({ kind }) => {
      const id = this.#payouts.pop()
      if (id) await this.#tries(kind, `take payout ${id} back`, () => payouts.remove(this.#by, id))
    },
    'pay by hand': async ({ kind }, own) => {
      if (own.status === 'rejected') return
      await this.#edit(kind, own, { status: own.status === 'paid' ? 'unpaid' : 'paid' })
    },
    reject: async ({ kind, which }, _own, children) => {
      const child = one(
        children.filter(({ status }) => status !== 'rejected'),
        which,
      )
      if (child) await this.#edit(kind, child, { status: 'rejected' })
    },
    'put back': async ({ kind, which }, _own, children) => {
      const child = one(
        children.filter(({ status }) => status === 'rejected'),
        which,
      )
      if (child) await this.#edit(kind, child, { status: 'unpaid' })
    },
    delete: async ({ kind, which }, _own, children) => {
      const child = one(children, which)
      const remove = () => referrals.remove(this.#by, child!.id)
      if (child && (await this.#tries(kind, `delete ${child.id}`, remove))) this.#decided(child, undefined)
    },
    'change refund': async ({ kind, which, share }, _own, children) => {
      const child = one(
        children.filter(({ status }) => status !== 'rejected'),
        which,
      )
      if (child) await this.#edit(kind, child, { amount: amountOf(share - 300, this.#programme) })
    },
    'reject sale': async ({ kind }, own) => {
      await this.#edit(kind, own, { status: 'rejected' })
    },
    approve: async ({ kind }, own) => {
      if (own.status === 'rejected') await this.#edit(kind, own, { status: 'unpaid' })
    },
    'set amount': async ({ kind, share, which }, own, children) => {
      const units = (this.#book.most * BigInt((share + which) % 1500)) / 1000n
      const change = { amount: amountOf(units, this.#programme) }
      if (!(await this.#edit(kind, own, change))) return
      // Of what is rejected, it is for more than what stands beside it.
      const beside = own.status === 'rejected' ? children.filter(({ status }) => status !== 'rejected') : []
      const set = units + BigInt(beside.reduce((sum, { amount }) => sum + amount, 0))
      if (set > this.#most) this.#most = set
    },
    'reject for a while': async ({ kind, which }, _own, children) => {
      const child = one(
        children.filter(({ status }) => status !== 'rejected'),
        which,
      )
      if (child) await this.#decidesForAWhile(kind, child, 'rejected')
    },
    'put back for a while': async ({ kind, which }, _own, children) => {
      const child = one(
        children.filter(({ status }) => status === 'rejected'),
        which,
      )
      if (child) await this.#decidesForAWhile(kind, child, 'unpaid')
    },
  }

  async #decidesForAWhile(kind: Kind, child: Referral, status: 'rejected' | 'unpaid'): Promise<void> {
    const before = await this.#owed()
    if (!(await this.#edit(kind, child, { status }))) return
    const after = (await this.#rows()).find(({ id }) => id === child.id)!
    const isUndone = await this.#edit(kind, after, { status: child.status })
    if (isUndone) assert.equal(await this.#owed(), before, 'after it was for a while')
  }
}

const places = (['SQLite', 'PostgreSQL'] as const).flatMap(engine =>
  engines[engine].programmes.map(programme => ({ engine, programme })),
)

for (const { engine, programme } of places) {
  describeService(
    `lives of a sale, in a programme in ${programme}`,
    service => {
      before(async () => {
        const reply = await (await service().admin()).patch('/settings', { currency: programme })
        assert.equal(reply.status, 200, JSON.stringify(reply.body))
        for (const from of Object.keys(decimals).filter(currency => currency !== programme)) {
          const rate = { from_currency: from, to_currency: programme, rate: rateOf(from, programme) }
          const entered = await service().post('/exchange-rates', { ...rate, date: '2020-01-01' })
          assert.ok(entered.status < 300, JSON.stringify(entered.body))
        }
      })

      async function play(life: Life): Promise<void> {
        const terms = { status: 'active', rate: life.rate / 100, rate_type: 'percentage' }
        const { id } = await service().newAffiliate(`life-${number}-${Math.random()}`, terms)
        const operator = operatorOf(service().database)
        const by = { ...operator, actor: { ...operator.actor, userId: 1 } }
        const player = new Player(by, life, programme, id)
        await player.play().catch(error => {
          throw new Error(
            `${error.message}\n${JSON.stringify({ ...life, steps: undefined })}\n${player.log.join('\n')}`,
            { cause: error },
          )
        })
      }

      for (const [isSet, title] of [
        [false, 'each is owed at the cent, where nobody sets its amount'],
        [true, 'no more is owed than it can earn or was set, and nothing changes by what is undone'],
      ] as const) {
        test(title, async () => {
          const numRuns = Math.ceil(engines[engine].lives / AT_ONCE)
          // The same lives each time, but for many.
          const begin = process.env.LONG ? Date.now() : 0
          const assertAll = (_: unknown, index: number) =>
            fc.assert(fc.asyncProperty(lives(isSet), play), {
              numRuns,
              endOnFailure: !process.env.LONG,
              seed: begin + index,
            })
          await Promise.all(Array.from({ length: AT_ONCE }, assertAll))
          const { problems } = await checkDatabase(service().database, features)
          assert.deepEqual(problems, [])
        })
      }
    },
    { only: engine },
  )
}

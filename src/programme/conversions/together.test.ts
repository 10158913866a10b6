/** What is reported by many lines at once is what the same lines make one after the other, whatever they share. */
import assert from 'node:assert/strict'
import { test } from 'node:test'
import fc from 'fast-check'
import { describeService, operatorOf } from '../../../test/harness.ts'
import { features } from '../../app.ts'
import { Failure } from '../../base/errors.ts'
import { checkDatabase } from '../../operations/check/rules.ts'
import { create } from './rules.ts'
import type { CreateArguments } from './schema.ts'
import { createMany } from './together.ts'

const RUNS = process.env.LONG ? 300 : 6
const LINES = 40
const AFFILIATES = 3

const line = fc.record({
  payment: fc.nat(14),
  names: fc.constantFrom('first', 'second', 'both'),
  kind: fc.oneof(
    { weight: 6, arbitrary: fc.constant('sale' as const) },
    { weight: 5, arbitrary: fc.constantFrom('renewal', 'lead', 'refund', 'dispute', 'dispute_won') },
  ),
  part: fc.integer({ min: 1, max: 2 }),
  customer: fc.option(fc.nat(4)),
  called: fc.constantFrom('id', 'email', 'both'),
  affiliate: fc.option(fc.nat(AFFILIATES - 1)),
})
const history = fc.record({
  before: fc.array(line, { maxLength: 10 }),
  lines: fc.array(line, { minLength: LINES, maxLength: LINES }),
  later: fc.option(fc.record({ payment: fc.nat(14), at: fc.nat(LINES), affiliate: fc.nat(AFFILIATES - 1) })),
})
type Line = typeof line extends fc.Arbitrary<infer L> ? L : never
type Side = { readonly name: string; readonly affiliates: readonly number[] }

function argumentsOf(
  { payment, names, kind, part, customer, called, affiliate }: Line,
  { name, affiliates }: Side,
): CreateArguments {
  const [first, second] = [`p${payment}`, `q${payment}`]
  const isReversal = ['refund', 'dispute', 'dispute_won'].includes(kind)
  const sent = customer !== null && {
    customer: {
      ...(called !== 'email' && { id: `c${customer}` }),
      ...(called !== 'id' && { email: `c${customer}@${name}.example` }),
    },
  }
  return {
    kind,
    context: name,
    reference: names === 'second' ? second : first,
    // What is credited later depends on what came before.
    occurred_at: '2026-01-01 10:00:00',
    ...(names === 'both' && { references: [second] }),
    // Several of one affiliate come to more than sums of sales hold in one part.
    amount: isReversal ? 400 * part : 4000 + payment,
    ...(isReversal ? { part: `${part}` } : sent),
    ...(affiliate !== null && !isReversal && { affiliate_id: affiliates[affiliate]! }),
  }
}

describeService('many conversions at once', service => {
  /** Everything that was made of them, by what they are called, in no order. */
  async function outcome({ name, affiliates }: Side): Promise<string[]> {
    const { reader } = service().database
    const who = (id: number | null) => affiliates.indexOf(id ?? 0)
    const conversions = await reader
      .selectFrom('conversions')
      .selectAll()
      .where('context', '=', name)
      .execute()
    const referrals = await reader.selectFrom('referrals').selectAll().where('context', '=', name).execute()
    const customers = await reader
      .selectFrom('customers')
      .selectAll()
      .where('email_key', 'like', `%@${name}.example`)
      .execute()
    // Second attributions of a name are told apart by the affiliate, who has another number on each side.
    const partOf = ({ kind, part }: (typeof conversions)[number]) =>
      kind === 'attribution' && part !== '' ? `of ${who(Number(part))}` : part
    return [
      ...conversions.map(one => `${one.kind} ${one.reference} ${partOf(one)}: ${who(one.affiliate_id)}`),
      ...referrals.map(
        one => `${one.type} ${one.reference}: ${one.status} ${one.amount} ${who(one.affiliate_id)}`,
      ),
      ...customers.map(one => `${one.email_key.split('@')[0]}: ${who(one.affiliate_id)}`),
    ].sort()
  }

  async function oneByOne(all: readonly CreateArguments[]): Promise<(string | number)[]> {
    const by = operatorOf(service().database)
    const statuses = []
    for (const args of all) {
      const made = await create(by, args).catch(failure => failure)
      if (!(made instanceof Failure) && made instanceof Error) throw made
      statuses.push(made instanceof Failure ? made.failure : made.replayed ? 200 : 201)
    }
    return statuses
  }

  test('they make what they make one after the other', { timeout: 600_000 }, async () => {
    const affiliates: number[] = []
    for (let number = 0; number < 2 * AFFILIATES; number += 1) {
      const own = { status: 'active', rate: 10 + (number % AFFILIATES), rate_type: 'percentage' }
      affiliates.push((await service().newAffiliate(`many-${number}`, own)).id)
    }
    let [run, done] = [0, 0]
    const play = async ({
      before,
      lines,
      later,
    }: typeof history extends fc.Arbitrary<infer H> ? H : never) => {
      run += 1
      const sides = [0, 1].map(side => ({
        name: `side${side}-${run}`,
        affiliates: affiliates.slice(side * AFFILIATES, (side + 1) * AFFILIATES),
      }))
      const [one, many] = sides.map(side => {
        const all = lines.map(sent => argumentsOf(sent, side))
        if (later) {
          const { payment, at, affiliate } = later
          const attribution = {
            kind: 'attribution' as const,
            context: side.name,
            reference: `p${payment}`,
            occurred_at: '2026-01-01 10:00:00',
          }
          all.splice(at, 0, { ...attribution, affiliate_id: side.affiliates[affiliate]! })
        }
        return { side, all, before: before.map(sent => argumentsOf(sent, side)) }
      })
      for (const { before } of [one!, many!]) await oneByOne(before)
      const statuses = await oneByOne(one!.all)
      // What was refused has changed nothing; one that is refused fails all of them.
      const isDone = (_: unknown, place: number) => typeof statuses[place] === 'number'
      const made = await createMany(operatorOf(service().database), many!.all.filter(isDone))
      const own = made.map(one => (one instanceof Failure ? one.failure : one.replayed ? 200 : 201))
      assert.deepEqual(own, statuses.filter(isDone))
      done += own.filter(status => status === 201).length
      assert.deepEqual(await outcome(many!.side), await outcome(one!.side))
    }
    await fc.assert(fc.asyncProperty(history, play), { numRuns: RUNS, endOnFailure: !process.env.LONG })
    assert.ok(done > 5 * RUNS, `${done} of ${RUNS} times ${LINES}`)
    assert.deepEqual((await checkDatabase(service().database, features)).problems, [])
  })
})

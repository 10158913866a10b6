/** What sales earn, each computed by hand. Amounts are in minor units: cents, yen, fils. */
import assert from 'node:assert/strict'
import { describe, test } from 'node:test'
import { decimalsOf } from '../../base/currencies.ts'
import { fraction, ONE, parseFraction } from '../../base/fraction.ts'
import {
  asksForSales,
  type Circumstances,
  exchangeOf,
  judge,
  judgeAmount,
  monthsSince,
  totalOf,
} from './engine.ts'
import type { Rule } from './model.ts'
import { RuleSet } from './rule-set.ts'
import type { Earner, Line, Sale } from './sale.ts'

const AT = Date.UTC(2026, 4, 15, 12) / 1000
const DAY = 86_400
const percent = (value: number) => value * 10_000
const line = (product: string, amount: number, quantity = 1, ...categories: string[]): Line => ({
  product,
  categories,
  quantity,
  amount: BigInt(amount),
})
const tiers = (count: number, volume: number) => ({
  sales_in_month: BigInt(count),
  sales_ever: BigInt(count),
  volume_in_month: BigInt(volume),
  volume_ever: BigInt(volume),
})

type Terms = Circumstances['settings']

interface Example {
  readonly what: string
  /** In minor units, 100.00 when omitted. */
  readonly amount?: number
  readonly sale?: Partial<Sale>
  readonly earner?: Partial<Earner>
  readonly settings?: Partial<Terms>
  readonly rules?: readonly Partial<Rule>[]
  /** What one whole unit of the sale's currency is in the programme's. */
  readonly rate?: string
  readonly earns: number | 'no_rule' | 'no_exchange_rate'
  /** By which rule of the example: its place. */
  readonly by?: number
  readonly holdDays?: number
  readonly parts?: number
}

const yen: Partial<Terms> = { currency: 'JPY', decimals: 0 }
const dinar: Partial<Terms> = { currency: 'KWD', decimals: 3 }
const inEuro = { currency: 'EUR' }

const examples: readonly Example[] = [
  // Rates without rules: 20 % of the default, or the affiliate's own.
  { what: 'the default rate', earns: 2000 },
  {
    what: 'a flat default rate',
    settings: { defaultRateType: 'flat', defaultRate: percent(7.5) },
    earns: 750,
  },
  { what: "the affiliate's own rate", earner: { rate: percent(12.5) }, earns: 1250 },
  { what: "the affiliate's own rate of 0", earner: { rate: 0 }, earns: 0 },
  { what: "the affiliate's own flat rate", earner: { rate: percent(4), rateType: 'flat' }, earns: 400 },
  { what: 'an own type at the default rate', earner: { rateType: 'flat' }, earns: 2000 },
  { what: 'tax and shipping are left out', sale: { tax: 1900n, shipping: 500n }, earns: 1520 },
  { what: 'more tax than amount', amount: 100, sale: { tax: 500n }, earns: 0 },
  // Rounding, once, half to even: 0.5 of a cent is none, 1.5 are two.
  { what: 'half a cent to the even one below', amount: 5, earner: { rate: percent(10) }, earns: 0 },
  { what: 'half a cent to the even one above', amount: 15, earner: { rate: percent(10) }, earns: 2 },
  { what: 'a little over half a cent', amount: 5, earner: { rate: percent(10.01) }, earns: 1 },
  {
    what: 'yen have no decimals: 12.5 are 12',
    amount: 125,
    sale: { currency: 'JPY', decimals: 0 },
    settings: yen,
    earner: { rate: percent(10) },
    earns: 12,
  },
  {
    what: 'dinars have three: 1.2345 are 1.234',
    amount: 12_345,
    sale: { currency: 'KWD', decimals: 3 },
    settings: dinar,
    earner: { rate: percent(10) },
    earns: 1234,
  },
  {
    what: 'flat with more decimals than yen have: 2.5 are 2',
    amount: 500,
    sale: { currency: 'JPY', decimals: 0 },
    settings: yen,
    earner: { rate: percent(2.5), rateType: 'flat' },
    earns: 2,
  },
  // Exchange: computed in the sale's currency, exchanged, rounded once.
  { what: 'a sale in euro: 20.00 at 1.0842', sale: inEuro, rate: '1.0842', earns: 2168 },
  {
    what: 'rounded once: 0.5 cents at 1.9 are 0.95, so one',
    amount: 5,
    sale: inEuro,
    earner: { rate: percent(10) },
    rate: '1.9',
    earns: 1,
  },
  {
    what: 'a sale in yen for a programme in dollars: 2,000 at 0.0067',
    amount: 10_000,
    sale: { currency: 'JPY', decimals: 0 },
    rate: '0.0067',
    earns: 1340,
  },
  {
    what: 'a sale in dinars: 2.469 at 3.25 are 8.02425',
    amount: 12_345,
    sale: { currency: 'KWD', decimals: 3 },
    rate: '3.25',
    earns: 802,
  },
  {
    what: 'a sale in dollars for a programme in yen',
    sale: { currency: 'USD' },
    settings: yen,
    rate: '150.125',
    earns: 3002,
  },
  { what: 'no exchange rate', sale: inEuro, earns: 'no_exchange_rate' },
  {
    what: "a flat rate is in the programme's currency and needs no exchange",
    sale: inEuro,
    earner: { rate: percent(4), rateType: 'flat' },
    earns: 400,
  },
  // Rules.
  {
    what: 'gross includes tax',
    sale: { tax: 1900n },
    rules: [{ rate: percent(10), basis: 'gross' }],
    earns: 1000,
    by: 0,
  },
  { what: 'net does not', sale: { tax: 1900n }, rules: [{ rate: percent(10) }], earns: 810, by: 0 },
  {
    what: 'the first, not the highest',
    rules: [
      { rate: percent(50), priority: 20 },
      { rate: percent(5), priority: 10 },
    ],
    earns: 500,
    by: 1,
  },
  {
    what: "the affiliate's rules before those of the group, and these before the programme's",
    earner: { groupId: 3 },
    rules: [
      { rate: percent(1), priority: 1 },
      { rate: percent(2), scope: 'group', groupId: 3 },
      { rate: percent(3), scope: 'affiliate', affiliateId: 7 },
    ],
    earns: 300,
    by: 2,
  },
  {
    what: "another group's are not tried",
    earner: { groupId: 3 },
    rules: [{ rate: percent(2), scope: 'group', groupId: 4 }],
    earns: 2000,
  },
  {
    what: 'an own rate before any rule',
    earner: { rate: percent(7) },
    rules: [{ rate: percent(3), scope: 'affiliate', affiliateId: 7 }],
    earns: 700,
  },
  {
    what: 'flat, with a hold',
    rules: [{ type: 'flat', rate: percent(12.4), holdDays: 30 }],
    earns: 1240,
    by: 0,
    holdDays: 30,
  },
  {
    what: 'per item: 2 and 3 of them at 1.25',
    sale: { lines: [line('A', 4000, 2), line('B', 6000, 3)] },
    rules: [{ type: 'per_item', rate: percent(1.25) }],
    earns: 625,
    by: 0,
  },
  {
    what: 'by product: 10 % of 40.00 and the default of 60.00',
    sale: { lines: [line('A', 4000), line('B', 6000)] },
    rules: [{ rate: percent(10), conditions: [{ field: 'product', is: ['a'] }] }],
    earns: 1600,
    parts: 2,
  },
  {
    what: 'by product, its accent typed as a sign of its own',
    sale: { lines: [line('Cafe\u0301', 4000), line('B', 6000)] },
    rules: [{ rate: percent(10), conditions: [{ field: 'product', is: ['caf\u00e9'] }] }],
    earns: 1600,
    parts: 2,
  },
  {
    what: 'by product, shipping shared by what the lines cost: 90.00 as 36.00 and 54.00',
    sale: { shipping: 1000n, lines: [line('A', 4000), line('B', 6000)] },
    rules: [{ rate: percent(10), conditions: [{ field: 'product', is: ['A'] }] }],
    earns: 1440,
    parts: 2,
  },
  {
    what: 'by category, of every line',
    sale: { lines: [line('A', 4000, 1, 'Books'), line('B', 6000, 1, 'books', 'new')] },
    rules: [{ rate: percent(5), conditions: [{ field: 'category', is: ['books'] }] }],
    earns: 500,
    by: 0,
    parts: 1,
  },
  {
    what: 'thirds are rounded once: 10 % of 3.33 and of 6.67 and of nothing',
    amount: 1000,
    sale: { lines: [line('A', 1, 1), line('B', 1, 1), line('C', 1, 1)] },
    rules: [
      { rate: percent(10), conditions: [{ field: 'product', is: ['A', 'B'] }] },
      { rate: 0, priority: 60 },
    ],
    earns: 67,
    parts: 2,
  },
  {
    what: 'by country',
    sale: { country: 'DE' },
    rules: [
      { rate: percent(3), conditions: [{ field: 'country', is: ['AT'] }] },
      { rate: percent(4), conditions: [{ field: 'country', is: ['de'] }] },
    ],
    earns: 400,
    by: 1,
  },
  {
    what: 'not in a country that is not known',
    rules: [{ rate: percent(3), conditions: [{ field: 'country', not: ['AT'] }] }],
    earns: 300,
    by: 0,
  },
  {
    what: 'by coupon and campaign',
    sale: { coupon: 'SPRING', campaign: 'mail' },
    rules: [
      {
        rate: percent(9),
        conditions: [
          { field: 'coupon', is: ['spring'] },
          { field: 'campaign', is: ['mail'] },
        ],
      },
    ],
    earns: 900,
    by: 0,
  },
  {
    what: 'by amount: below is not met at the limit',
    amount: 50_000,
    rules: [
      { rate: percent(1), conditions: [{ field: 'amount', below: 500 }] },
      { rate: percent(2), priority: 60, conditions: [{ field: 'amount', at_least: 500 }] },
    ],
    earns: 1000,
    by: 1,
  },
  {
    what: "amounts are compared in the programme's currency: 100.00 at 1.5",
    sale: inEuro,
    rate: '1.5',
    rules: [{ rate: percent(10), conditions: [{ field: 'amount', at_least: 150 }] }],
    earns: 1500,
    by: 0,
  },
  {
    what: 'and not at all without a rate',
    sale: inEuro,
    rules: [{ type: 'flat', rate: percent(1), conditions: [{ field: 'amount', at_least: 150 }] }],
    earns: 'no_exchange_rate',
  },
  {
    what: 'by the currency of the sale',
    sale: inEuro,
    rate: '2',
    rules: [{ rate: percent(1), conditions: [{ field: 'currency', is: ['EUR'] }] }],
    earns: 200,
    by: 0,
  },
  {
    what: 'the first order',
    sale: { order: 1 },
    rules: [{ rate: percent(30), conditions: [{ field: 'order', below: 2 }] }],
    earns: 3000,
    by: 0,
  },
  {
    what: 'the second order',
    sale: { order: 2 },
    rules: [{ rate: percent(30), conditions: [{ field: 'order', below: 2 }] }],
    earns: 2000,
  },
  {
    what: 'an order whose number nobody knows',
    rules: [{ rate: percent(30), conditions: [{ field: 'order', below: 2 }] }],
    earns: 2000,
  },
  {
    what: 'the last month of recurring',
    sale: { kind: 'renewal', months: 11 },
    rules: [{ rate: percent(30), mostMonths: 12 }],
    earns: 3000,
    by: 0,
  },
  {
    what: 'the end of recurring: nothing, and no other rule',
    sale: { kind: 'renewal', months: 12 },
    rules: [
      { rate: percent(30), mostMonths: 12 },
      { rate: percent(1), priority: 60 },
    ],
    earns: 0,
    by: 0,
  },
  {
    what: 'the last payment, and the one behind it',
    sale: { kind: 'renewal', order: 4 },
    rules: [{ rate: percent(30), mostPayments: 3 }],
    earns: 0,
    by: 0,
  },
  {
    what: 'only of leads',
    sale: { kind: 'lead' },
    amount: 0,
    rules: [{ type: 'flat', rate: percent(2), kinds: ['lead'] }],
    earns: 200,
    by: 0,
  },
  { what: 'not of sales', rules: [{ type: 'flat', rate: percent(2), kinds: ['lead'] }], earns: 2000 },
  {
    what: 'from a day on',
    rules: [
      { rate: percent(1), from: AT + 1 },
      { rate: percent(2), until: AT - 1 },
      { rate: percent(3), from: AT, until: AT },
    ],
    earns: 300,
    by: 2,
  },
  {
    what: 'the tier above ten sales in the month',
    earner: { tiers: tiers(10, 0) },
    rules: [{ rate: percent(25), conditions: [{ field: 'sales_in_month', at_least: 10 }] }],
    earns: 2500,
    by: 0,
  },
  {
    what: 'the tier below ten sales',
    earner: { tiers: tiers(9, 0) },
    rules: [{ rate: percent(25), conditions: [{ field: 'sales_in_month', at_least: 10 }] }],
    earns: 2000,
  },
  {
    what: 'the tier of 10,000.00 ever',
    earner: { tiers: tiers(1, 1_000_000) },
    rules: [{ rate: percent(22), conditions: [{ field: 'volume_ever', at_least: 10_000 }] }],
    earns: 2200,
    by: 0,
  },
  // A rate type that was configured names rules.
  { what: 'a rate type without a rule', earner: { rateType: 'per lead' }, earns: 'no_rule' },
  {
    what: 'a rate type that names a rule',
    earner: { rateType: 'per lead' },
    rules: [{ name: 'per lead', type: 'flat', rate: percent(3) }],
    earns: 300,
    by: 0,
  },
  {
    what: 'at an own rate',
    earner: { rateType: 'per lead', rate: percent(5) },
    rules: [{ name: 'per lead', type: 'flat', rate: percent(3) }],
    earns: 500,
  },
  {
    what: 'two rules and none: 10 % of books, 5 a lamp, and the default of the rest',
    sale: { lines: [line('A', 2000, 1, 'books'), line('L', 5000, 2, 'lamps'), line('C', 3000)] },
    rules: [
      { rate: percent(10), conditions: [{ field: 'category', is: ['books'] }] },
      { type: 'per_item', rate: percent(5), conditions: [{ field: 'category', is: ['lamps'] }] },
    ],
    earns: 1800,
    parts: 3,
  },
  {
    what: 'the hold of the rule that pays, and not that of the one that has stopped',
    sale: { kind: 'renewal', order: 4, lines: [line('A', 5000), line('B', 5000)] },
    rules: [
      { rate: percent(10), holdDays: 14, conditions: [{ field: 'product', is: ['A'] }] },
      { rate: percent(20), holdDays: 30, mostPayments: 3, conditions: [{ field: 'product', is: ['B'] }] },
    ],
    earns: 500,
    parts: 2,
    holdDays: 14,
  },
  {
    what: 'the longest hold of those that earn',
    sale: { lines: [line('A', 5000), line('B', 5000)] },
    rules: [
      { rate: percent(10), holdDays: 14, conditions: [{ field: 'product', is: ['A'] }] },
      { rate: percent(20), holdDays: 30, conditions: [{ field: 'product', is: ['B'] }] },
    ],
    earns: 1500,
    parts: 2,
    holdDays: 30,
  },
  {
    what: 'of the same priority, the older rule: 3 %',
    rules: [{ rate: percent(3) }, { rate: percent(9) }],
    earns: 300,
    by: 0,
  },
  {
    what: 'per item of a sale without lines: one of 7.00',
    rules: [{ type: 'per_item', rate: percent(7) }],
    earns: 700,
    by: 0,
  },
  {
    what: 'gross in euro, tax included: 10 % of 119.00 at 1.1 are 13.09',
    amount: 11_900,
    sale: { ...inEuro, tax: 1900n },
    rate: '1.1',
    rules: [{ rate: percent(10), basis: 'gross' }],
    earns: 1309,
    by: 0,
  },
  {
    what: 'a flat rate and a part in euro: 2.00 and 10 % of 50.00 at 1.5',
    sale: { ...inEuro, lines: [line('A', 5000), line('B', 5000)] },
    rate: '1.5',
    rules: [
      { type: 'flat', rate: percent(2), conditions: [{ field: 'product', is: ['A'] }] },
      { rate: percent(10), conditions: [{ field: 'product', is: ['B'] }] },
    ],
    earns: 950,
    parts: 2,
  },
  {
    what: 'without a rate, a flat rule, whatever rules that cannot apply ask for: of others, of leads, of another time, of a later place',
    sale: inEuro,
    rules: [
      {
        scope: 'affiliate',
        affiliateId: 99,
        rate: percent(1),
        conditions: [{ field: 'amount', at_least: 5 }],
      },
      { kinds: ['lead'], rate: percent(1), conditions: [{ field: 'amount', at_least: 5 }] },
      { until: AT - DAY, rate: percent(1), conditions: [{ field: 'amount', at_least: 5 }] },
      {
        rate: percent(1),
        conditions: [
          { field: 'amount', at_least: 5 },
          { field: 'country', is: ['FR'] },
        ],
      },
      { type: 'flat', rate: percent(5) },
      { rate: percent(1), conditions: [{ field: 'amount', at_least: 5 }] },
    ],
    earns: 500,
    by: 4,
  },
  {
    what: 'without a rate, a rule that could apply first and asks for the amount',
    sale: inEuro,
    rules: [
      { rate: percent(1), conditions: [{ field: 'amount', at_least: 5 }] },
      { type: 'flat', rate: percent(5) },
    ],
    earns: 'no_exchange_rate',
    parts: 0,
  },
  {
    what: 'without a rate, a rule of one line that asks for the amount',
    sale: { ...inEuro, lines: [line('A', 5000), line('B', 5000)] },
    rules: [
      {
        rate: percent(1),
        conditions: [
          { field: 'product', is: ['B'] },
          { field: 'amount', below: 5 },
        ],
      },
      { type: 'flat', rate: percent(5) },
    ],
    earns: 'no_exchange_rate',
    parts: 0,
  },
  { what: 'a default type without a rule', settings: { defaultRateType: 'per lead' }, earns: 'no_rule' },
  {
    what: 'a default type that names a rule, for what no other rule is for: 20 % of A, 10 % of B',
    sale: { lines: [line('A', 5000), line('B', 5000)] },
    settings: { defaultRateType: 'vip' },
    rules: [
      { rate: percent(20), conditions: [{ field: 'product', is: ['A'] }] },
      { name: 'vip', scope: 'group', groupId: 9, rate: percent(10) },
    ],
    earns: 1500,
    by: 0,
    parts: 2,
  },
  {
    what: 'a default type that names a rule of other lines than the rest',
    sale: { lines: [line('A', 5000, 1, 'books'), line('B', 5000)] },
    settings: { defaultRateType: 'books' },
    rules: [{ name: 'books', rate: percent(10), conditions: [{ field: 'category', is: ['books'] }] }],
    earns: 'no_rule',
  },
  {
    what: 'a default type that names a rule per item, for two items of the rest',
    sale: { lines: [line('A', 5000, 3), line('B', 5000, 2)] },
    settings: { defaultRateType: 'pieces' },
    rules: [
      { rate: percent(10), conditions: [{ field: 'product', is: ['A'] }] },
      { name: 'pieces', scope: 'group', groupId: 9, type: 'per_item', rate: percent(1) },
    ],
    earns: 700,
    parts: 2,
  },
]

function judged({ amount = 10_000, sale, earner, settings, rules = [], rate }: Example) {
  const all: Terms = {
    defaultRate: percent(20),
    defaultRateType: 'percentage',
    currency: 'USD',
    decimals: 2,
    ...settings,
  }
  const of: Sale = {
    kind: 'sale',
    amount: BigInt(amount),
    tax: 0n,
    shipping: 0n,
    currency: 'USD',
    decimals: decimalsOf(sale?.currency ?? 'USD')!,
    lines: [],
    country: '',
    coupon: '',
    campaign: '',
    occurredAt: AT,
    order: null,
    months: null,
    ...sale,
  }
  const who: Earner = { id: 7, groupId: null, rate: null, rateType: null, ...earner }
  const exchange = rate === undefined ? null : exchangeOf(parseFraction(rate)!, of.decimals, all.decimals)
  const set = new RuleSet(rules.map(ruleOf), all.decimals)
  return {
    judgement: judge(of, who, { settings: all, rules: set, exchange }),
    settings: all,
    sale: of,
    who,
    set,
  }
}

const ruleOf = (rule: Partial<Rule>, place: number): Rule => ({
  id: place + 1,
  series: place + 1,
  version: 1,
  name: `rule ${place}`,
  scope: 'programme',
  affiliateId: null,
  groupId: null,
  priority: 50,
  kinds: [],
  conditions: [],
  type: 'percentage',
  rate: 0,
  basis: 'net',
  mostMonths: null,
  mostPayments: null,
  holdDays: null,
  from: null,
  until: null,
  ...rule,
})

describe('what a sale earns', () => {
  for (const example of examples) {
    test(example.what, () => {
      const { judgement } = judged(example)
      const { reason, amount, parts, holdDays } = judgement
      assert.equal(reason || Number(amount), example.earns)
      if (example.by !== undefined) assert.equal(parts[0]!.rule?.id, example.by + 1)
      if (example.parts !== undefined) assert.equal(parts.length, example.parts)
      assert.equal(holdDays, example.holdDays ?? null)
    })
  }

  test('what refunds leave is a part of it, also of a flat amount, and rounded once', () => {
    const { judgement } = judged({ what: '', amount: 1005, earner: { rate: percent(10) }, earns: 0 })
    assert.equal(judgement.amount, 100n)
    // A third of 100.5 is 33.5, which rounds to the even 34; a third of the rounded 100 would be 33.
    assert.equal(totalOf(judgement.parts, ONE, fraction(1n, 3n)).amount, 34n)
    const flat = judged({ what: '', rules: [{ type: 'flat', rate: percent(9) }], earns: 0 })
    assert.equal(totalOf(flat.judgement.parts, null, fraction(1n, 3n)).amount, 300n)
  })

  test('an amount that was sent is exchanged, and waits for a rate', () => {
    const { settings } = judged({ what: '', earns: 0 })
    const exchange = exchangeOf(parseFraction('1.105')!, 2, 2)
    assert.equal(judgeAmount(1000n, { currency: 'EUR' }, { settings, exchange }).amount, 1105n)
    assert.equal(
      judgeAmount(1000n, { currency: 'EUR' }, { settings, exchange: null }).reason,
      'no_exchange_rate',
    )
    assert.equal(judgeAmount(1000n, { currency: 'USD' }, { settings, exchange: null }).amount, 1000n)
  })

  test('what was sold before is asked for only where a rule that may apply does, and decides nowhere else', () => {
    const conditions = [{ field: 'sales_in_month', at_least: 5 }] as const
    const ofScope: Record<string, Partial<Rule>> = {
      own: { scope: 'affiliate', affiliateId: 7 },
      other: { scope: 'affiliate', affiliateId: 8 },
      group: { scope: 'group', groupId: 3 },
      otherGroup: { scope: 'group', groupId: 4 },
      programme: {},
    }
    const asking: string[] = []
    for (const [scope, rule] of Object.entries(ofScope)) {
      for (const rateType of [null, 'flat', 'gold'] as const) {
        for (const rate of [null, percent(1)]) {
          const earner = { rate, rateType, groupId: 3 }
          const rules = [{ ...rule, conditions, rate: percent(50), name: 'gold' }]
          const earns = (sold: Partial<Earner>) =>
            judged({ what: '', rules, earner: { ...earner, ...sold }, earns: 0 })
          const { who, set, settings } = earns({})
          const [without, few, many] = [{}, { tiers: tiers(0, 0) }, { tiers: tiers(9, 9) }].map(
            sold => earns(sold).judgement,
          )
          if (asksForSales(who, { rules: set, settings })) {
            asking.push([scope, rateType ?? 'default', ...(rate === null ? [] : ['own rate'])].join(' '))
          } else {
            assert.deepEqual([few, many], [without, without])
          }
        }
      }
    }
    const byName = Object.keys(ofScope).flatMap(scope => [`${scope} gold`, `${scope} gold own rate`])
    const byScope = ['own', 'group', 'programme'].flatMap(scope => [`${scope} default`, `${scope} flat`])
    assert.deepEqual(asking.sort(), [...byName, ...byScope].sort())
  })

  test('months since the first order end on the day and second of it', () => {
    const at = (...[year, month, day, hour = 0]: number[]) => Date.UTC(year!, month! - 1, day, hour) / 1000
    assert.equal(monthsSince(at(2026, 1, 15, 12), at(2026, 2, 15, 11)), 0)
    assert.equal(monthsSince(at(2026, 1, 15, 12), at(2026, 2, 15, 12)), 1)
    assert.equal(monthsSince(at(2026, 1, 31), at(2026, 2, 28)), 1)
    assert.equal(monthsSince(at(2025, 12, 31), at(2027, 1, 1)), 12)
    assert.equal(monthsSince(AT, AT - 40 * DAY), 0)
  })
})

test('a set of a thousand rules finds what trying each of them finds', () => {
  let state = 7
  const random = (below: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
  const rules = Array.from({ length: 1000 }, (_, place) => {
    const condition = [
      { field: 'country', is: [`C${random(300)}`] },
      { field: 'coupon', is: [`K${random(300)}`, `K${random(300)}`] },
      { field: 'amount', at_least: 900 + random(200), below: 1200 },
      { field: 'country', not: [`C${random(9)}`], is: [`C${random(300)}`] },
    ][random(4)]!
    return ruleOf(
      { priority: random(100), rate: place, conditions: [condition as Rule['conditions'][number]] },
      place,
    )
  })
  const set = new RuleSet(rules, 2)
  for (let trial = 0; trial < 500; trial++) {
    const { sale, who } = judged({
      what: '',
      amount: random(120_000),
      sale: { country: `C${random(320)}`, coupon: `K${random(320)}` },
      earns: 0,
    })
    const matches = set.match(sale, who, ONE)
    assert.ok(typeof matches !== 'string')
    const tried = [...set.trials(sale, who, ONE)].find(({ obstacle }) => obstacle === undefined)
    assert.equal(matches[0]!.rule?.id, tried?.rule.id)
  }
})

test('rules that ask for limits of numbers are found as trying each of them finds them, at each limit and beside it', () => {
  let state = 11
  const random = (below: number) => {
    state = (state * 48_271) % 2_147_483_647
    return state % below
  }
  // Few values, so that many limits are alike, nested, empty or the wrong way round.
  const limits = () => ({
    ...(random(4) > 0 && { at_least: random(40) / 4 }),
    ...(random(4) > 0 && { below: random(40) / 4 }),
  })
  const number = () => ({
    field: (['amount', 'amount', 'order', 'months', 'volume_ever'] as const)[random(5)]!,
    ...limits(),
  })
  for (const count of [1, 2, 3, 7, 40, 300]) {
    const rules = Array.from({ length: count }, (_, place) => {
      const others = [[], [number()], [{ field: 'country' as const, not: [`C${random(3)}`] }]][random(3)]!
      const conditions = [number(), ...others]
      const kinds = random(3) === 0 ? (['lead'] as const) : []
      return ruleOf({ priority: random(count), rate: place, conditions, kinds }, place)
    })
    const set = new RuleSet(rules, 2)
    for (let trial = 0; trial < 300; trial++) {
      const { sale, who } = judged({
        what: '',
        amount: 25 * random(42) + random(3) - 1,
        sale: {
          country: `C${random(4)}`,
          kind: random(2) ? 'lead' : 'sale',
          order: random(5) === 0 ? null : random(11),
          months: random(5) === 0 ? null : random(11),
        },
        earner: { tiers: tiers(0, 25 * random(42)) },
        earns: 0,
      })
      const matches = set.match(sale, who, ONE)
      assert.ok(typeof matches !== 'string')
      const tried = [...set.trials(sale, who, ONE)].find(({ obstacle }) => obstacle === undefined)
      assert.equal(matches[0]!.rule?.id, tried?.rule.id, `${count} rules, trial ${trial}`)
    }
  }
})

/** Conversions of the demo's shops and the commission rules, created by the same rules as any other. */
import type { Static } from 'typebox'
import { commandLine } from '../../base/actor.ts'
import { DAY_SECONDS, formatTime } from '../../base/time.ts'
import { inTransaction, type RequestContext } from '../../events/write.ts'
import { edit as editAffiliate } from '../../programme/affiliates/rules.ts'
import { affiliates } from '../../programme/affiliates/store.ts'
import type { rule } from '../../programme/commission/rule.ts'
import { rules } from '../../programme/commission/rules.ts'
import { create as report } from '../../programme/conversions/rules.ts'
import type { CreateArguments } from '../../programme/conversions/schema.ts'
import { rules as coupons } from '../../programme/coupons/rules.ts'
import { rules as exchangeRates } from '../../programme/exchange/rules.ts'
import { rules as groups } from '../../programme/groups/rules.ts'
import { rules as referrals } from '../../programme/referrals/rules.ts'
import { rules as visits } from '../../programme/visits/rules.ts'
import { onBehalfOf } from '../../settings/rules.ts'
import type { Database, Tx } from '../../storage/database.ts'
import { pick } from './random.ts'

export const SHOP = { name: 'demo shop', address: 'https://shop.example.com/' }
/** How far back the shops report, and how often. */
const DAYS = 60
const SALES = 60
const MOST_SELLERS = 12
const MOST_LOOKED_AT = 100
const GROUPS = ['Partners', 'Press']
const PRODUCTS = [
  { product: 'Handbook', category: 'books' },
  { product: 'Desk lamp', category: 'light' },
  { product: 'Notebook', category: 'paper' },
]
const COUNTRIES = ['DE', 'FR', 'US', 'GB']

type RuleArguments = Static<typeof rule.create>

/** In the order in which they are tried, after those of groups; other sales earn the default rate. */
const RULES: readonly RuleArguments[] = [
  {
    name: 'Books',
    rate: 16,
    priority: 10,
    hold_days: 30,
    conditions: [{ field: 'category', is: ['books'] }],
  },
  { name: 'Subscriptions', rate: 20, priority: 20, kinds: ['renewal'], max_months: 12, hold_days: 0 },
  { name: 'Newsletter', rate_type: 'flat', rate: 1, priority: 30, kinds: ['lead'], hold_days: 0 },
  {
    name: 'From ten sales in the month',
    rate: 12.5,
    priority: 40,
    hold_days: 30,
    conditions: [{ field: 'sales_in_month', at_least: 10 }],
  },
]

export async function fillShop(
  database: Database,
  ids: readonly number[],
  random: () => number,
  until: number,
): Promise<void> {
  await database.transaction(async tx => {
    const sellers = await sellersAmong(tx, ids)
    if (sellers.length === 0) return
    const context = inTransaction(onBehalfOf(commandLine, database), tx)
    await makeRules(context, sellers)
    const codes = await makeCoupons(context, sellers)
    await new Shop(context, { sellers, codes, random, until }).report()
  })
}

/** The newest active affiliates who earn by the rules. */
async function sellersAmong(tx: Tx, ids: readonly number[]): Promise<number[]> {
  const sellers: number[] = []
  for (const id of ids.slice(-MOST_LOOKED_AT).toReversed()) {
    const row = await affiliates.find(tx, id)
    if (row?.status === 'active' && row.rate === null) sellers.push(id)
    if (sellers.length === MOST_SELLERS) break
  }
  return sellers
}

async function makeRules(context: RequestContext, sellers: readonly number[]): Promise<void> {
  for (const [place, name] of GROUPS.entries()) {
    const { id: group_id } = await groups.create(context, { name })
    for (const affiliate_id of sellers.slice(2 * place, 2 * place + 2)) {
      await editAffiliate(context, { affiliate_id, group_id })
    }
    await rules.create(context, { name, rate: 17.5 - 5 * place, group_id, hold_days: 14 })
  }
  for (const rule of RULES) await rules.create(context, rule)
}

async function makeCoupons(context: RequestContext, sellers: readonly number[]): Promise<string[]> {
  const codes: string[] = []
  for (const [place, affiliate_id] of sellers.slice(0, 6).entries()) {
    const code = `WELCOME${10 + place}`
    await coupons.create(context, { code, affiliate_id, campaign: place % 2 === 0 ? 'spring' : '' })
    codes.push(code)
  }
  return codes
}

interface Setting {
  readonly sellers: readonly number[]
  readonly codes: readonly string[]
  readonly random: () => number
  readonly until: number
}

/** Reports the conversions of one shop, the oldest first. */
class Shop {
  readonly #context: RequestContext
  readonly #setting: Setting

  constructor(context: RequestContext, setting: Setting) {
    this.#context = context
    this.#setting = setting
  }

  async report(): Promise<void> {
    const { currency } = await this.#context.settings.current()
    const foreign = currency === 'GBP' ? 'USD' : 'GBP'
    for (const [place, rate] of ['1.2731', '1.2842', '1.2815'].entries()) {
      const date = this.#daysAgo(DAYS - 20 * place).slice(0, 10)
      await exchangeRates.create(this.#context, { from_currency: foreign, rate, date })
    }
    // The last currency has no rate.
    const currencies = [currency, currency, currency, foreign, currency, 'CHF']
    for (let number = 1; number <= SALES; number += 1) {
      const amount = await this.#sell(number, currencies[number % (number > SALES - 6 ? 6 : 5)]!)
      if (number % 10 === 8) await this.#takeBackWhole(number, amount)
      if (number % 10 === 0) await this.#takeBack(number, currencies[number % 5]!)
    }
  }

  #daysAgo = (days: number) => formatTime(this.#setting.until - Math.round(days * DAY_SECONDS))
  #dayOf = (number: number) => (DAYS * (SALES - number + 1)) / (SALES + 1)
  #pick = <T>(choices: readonly T[]) => pick(choices, this.#setting.random)

  /** @returns what the customer paid */
  async #sell(number: number, currency: string): Promise<number> {
    const { random } = this.#setting
    const occurred_at = this.#daysAgo(this.#dayOf(number))
    const net = 20 + Math.floor(random() ** 2 * 200)
    const tax = Math.round(net / 5)
    const buyer = Math.floor(random() * SALES * 0.7)
    const customer = {
      id: `c${buyer}`,
      email: `buyer.${buyer}@example.com`,
      country: COUNTRIES[buyer % COUNTRIES.length]!,
    }
    const kind =
      number % 9 === 4 ? ('lead' as const) : number % 5 === 2 ? ('renewal' as const) : ('sale' as const)
    const paid =
      kind === 'lead'
        ? {}
        : { amount: net + tax, tax, currency, lines: [{ ...this.#pick(PRODUCTS), quantity: 1, amount: net }] }
    await this.#tell({
      kind,
      reference: `${1000 + number}`,
      customer,
      occurred_at,
      ...paid,
      ...(await this.#origin(number)),
    })
    return paid.amount ?? 0
  }

  /** Nothing is left of the sale, so its affiliate earns nothing by it. */
  async #takeBackWhole(number: number, amount: number): Promise<void> {
    const occurred_at = this.#daysAgo(this.#dayOf(number) - 0.5)
    await this.#tell({ kind: 'refund', reference: `${1000 + number}`, part: 'whole', amount, occurred_at })
  }

  /** By a link, a coupon, the shop's own knowledge, or nobody. */
  async #origin(number: number): Promise<Partial<CreateArguments>> {
    const { sellers, codes } = this.#setting
    const affiliate_id = this.#pick(sellers)
    if (number % 4 === 0) return { coupon: this.#pick(codes) }
    if (number % 4 === 1) return number % 8 === 1 ? {} : { affiliate_id }
    const date = this.#daysAgo(this.#dayOf(number) + 0.1)
    const campaign = number % 3 === 0 ? 'spring' : ''
    const visit = await visits.create(this.#context, {
      affiliate_id,
      url: SHOP.address,
      referrer: 'https://blog.example.org/',
      campaign,
      date,
    })
    return { visit_id: visit.id }
  }

  /** A partial refund, a full one after the referral was paid by hand, and a dispute that is won or lost. */
  async #takeBack(number: number, currency: string): Promise<void> {
    const occurred_at = this.#daysAgo(this.#dayOf(number) - 0.5)
    const back = { currency, occurred_at }
    await this.#tell({ kind: 'refund', reference: `${1000 + number}`, part: 'r1', amount: 10, ...back })
    const { referrals: results } = await this.#tell({
      kind: 'dispute',
      reference: `${1000 + number - 5}`,
      part: 'd1',
      amount: 24,
      ...back,
    })
    if (number % 20 === 0) {
      await this.#tell({ kind: 'dispute_won', reference: `${1000 + number - 5}`, part: 'd1', ...back })
    }
    const owedReferral = results.find(({ status, type }) => status === 'unpaid' && type === 'sale')
    if (!owedReferral) return
    await referrals.edit(this.#context, { referral_id: owedReferral.id, status: 'paid' })
    await this.#tell({ kind: 'refund', reference: owedReferral.reference, part: 'r2', amount: 12, ...back })
  }

  #tell = (args: CreateArguments) => report(this.#context, { context: SHOP.name, ...args })
}

/**
 * What affiliates earned in the demo's time, the visits that led to it, and the payouts that paid it: posted by the rules
 * in the order of time, so that `check` finds it as consistent as any other ledger.
 */

import type { Settings } from '../../base/settings.ts'
import { DAY_SECONDS, dayOf } from '../../base/time.ts'
import { addToCounters } from '../../programme/affiliates/store.ts'
import type { Reason } from '../../programme/ledger/because.ts'
import { postPayout, postReferral, postTogether } from '../../programme/ledger/rules.ts'
import { link } from '../../programme/links/link.ts'
import { addVisits, links } from '../../programme/links/store.ts'
import { payouts } from '../../programme/payouts/store.ts'
import { type Referral, referral } from '../../programme/referrals/referral.ts'
import { referrals } from '../../programme/referrals/store.ts'
import { addToDays } from '../../programme/visits/days.ts'
import { visits } from '../../programme/visits/store.ts'
import { visit } from '../../programme/visits/visit.ts'
import { loadSettings } from '../../settings/rules.ts'
import type { Database, Tx } from '../../storage/database.ts'
import { earnerAt, type Payer, paidAmount, payoutRow } from './payouts.ts'
import { type Chance, pick } from './random.ts'
import { SHOP } from './shop.ts'

/** Numbers of orders, above those of the shop's conversions. */
const FIRST_ORDER = 2000
const MOST_OPEN = 120
const STATUSES = ['pending', 'unpaid', 'unpaid', 'unpaid', 'rejected'] as const
const OPEN_DAYS = 40
/** What was earned later is not in the run of the founders. */
export const SETTLED_DAYS = 20
/** Who registered in the last days has not earned yet. */
const EARNING_FROM_DAYS = 35
const MOST_OF_ONE_PAYOUT = 4
/** What a sale comes to in the place of one unit that is earned. */
const SALE_FOR_EARNED = 10
const VISITED = 0.7
/** A visit leads to its sale within so many days. */
const VISITED_BEFORE_DAYS = 2
/** Visits that lead to nothing, for each that does. */
const VISITS_FOR_NOTHING = 3
const MOST_LINKS = 40
const CAMPAIGNS = ['', '', 'newsletter', 'spring', 'summer', 'black-friday']
const PAGES = ['', 'handbook', 'desk-lamp', 'notebook']
const REFERRERS = ['https://blog.example.org/', 'https://video.example.net/', 'https://news.example.com/']

export interface Making extends Payer {
  /** Affiliates who are owed what they earned before the last weeks. */
  readonly founders: readonly number[]
  /** The numbers of the payouts that pay it, from 1. */
  readonly numbers: readonly number[]
  /** The last referral of another system. */
  readonly after: number
  readonly until: number
}

interface Sale {
  readonly affiliate_id: number
  readonly status: 'pending' | 'unpaid' | 'rejected'
  readonly amount: number
  readonly time: number
  readonly campaign: string
  /** The number of the payout that names it. */
  readonly payout?: number
}

interface Payment {
  readonly number: number
  readonly affiliate_id: number
  readonly time: number
}

export async function fillHistory(database: Database, making: Making, chance: Chance): Promise<void> {
  const settings = await loadSettings(database.reader)
  const payments = making.numbers.map(number => paymentOf(number, making, chance))
  const sales = [...payments.flatMap(payment => salesOf(payment, chance)), ...openSales(making, chance)]
  sales.sort((a, b) => a.time - b.time)
  await database.transaction(async tx => {
    await database.engine.continueIdentity(tx, referral.table.name, making.after)
    const visitIds = await addVisitsOf(tx, sales, { making, chance, settings })
    const rows = await addReferrals(tx, sales, visitIds, settings)
    await pay(tx, payments, { sales, rows, owner: making.owner, chance })
  })
}

function paymentOf(number: number, { earners, total }: Making, chance: Chance): Payment {
  const part = number / total
  return { number, affiliate_id: earnerAt(earners, part, chance), time: chance.timeAt(part) }
}

/** The sales that a payout pays. */
function salesOf({ number, affiliate_id, time }: Payment, chance: Chance): Sale[] {
  const { random } = chance
  const count = 1 + Math.floor(random() * MOST_OF_ONE_PAYOUT)
  return Array.from({ length: count }, () => ({
    affiliate_id,
    status: 'unpaid' as const,
    amount: Math.ceil(paidAmount(chance) / count),
    time: time - Math.floor((2 + random() * (EARNING_FROM_DAYS - 2)) * DAY_SECONDS),
    campaign: pick(CAMPAIGNS, random),
    payout: number,
  }))
}

/** Sales that nobody has paid or judged yet. */
function openSales({ earners, founders, until }: Making, chance: Chance): Sale[] {
  const { random } = chance
  const sale = (affiliate_id: number, status: Sale['status'], from: number) => ({
    affiliate_id,
    status,
    amount: 100 + Math.floor(random() ** 2 * 12_000),
    time: until - Math.floor((from + random() * (OPEN_DAYS - from)) * DAY_SECONDS),
    campaign: pick(CAMPAIGNS, random),
  })
  const others = Array.from({ length: Math.min(MOST_OPEN, earners.length) }, () =>
    sale(earnerAt(earners, 1, chance), pick(STATUSES, random), 0),
  )
  return [...founders.map(id => sale(id, 'unpaid', SETTLED_DAYS)), ...others]
}

interface Visiting {
  readonly making: Making
  readonly chance: Chance
  readonly settings: Settings
}

/**
 * Adds visits since the first sale; earlier than the settings keep them, only their daily sums.
 * @returns the identifier of the visit that led to each sale; 0 for none
 */
async function addVisitsOf(tx: Tx, sales: readonly Sale[], visiting: Visiting): Promise<number[]> {
  const { making, chance, settings } = visiting
  const from = sales[0]!.time
  const origin = { time: from - VISITED_BEFORE_DAYS * DAY_SECONDS, actor: making.owner }
  const linkOf = await addLinks(tx, making.earners, { settings, origin })
  const keptFrom = (dayOf(making.until) - settings.tracking.visitDays) * DAY_SECONDS
  const converted = sales.map(sale =>
    chance.random() < VISITED ? visitBefore(sale, visiting, linkOf) : undefined,
  )
  const led = converted.filter(row => row !== undefined)
  const others = led.flatMap(() =>
    Array.from({ length: VISITS_FOR_NOTHING }, () => {
      const time = from + Math.floor(chance.random() * (making.until - from))
      const affiliate_id = earnerAt(making.earners, chance.partAt(time), chance)
      return visitBefore({ affiliate_id, time, campaign: pick(CAMPAIGNS, chance.random) }, visiting, linkOf)
    }),
  )
  const all = [...led, ...others].sort((a, b) => a.created_at - b.created_at)
  const kept = all.filter(row => row.created_at >= keptFrom)
  const ids = await visits.insertMany(tx, kept)
  const idOf = new Map(kept.map((row, place) => [row, ids[place]!]))
  await addToDays(tx, [...led.map(row => ({ ...row, referral_id: 1 })), ...others])
  for (const [id, rows] of Map.groupBy(all, row => row.affiliate_id)) {
    await addToCounters(tx, id, { visits: rows.length })
  }
  for (const [id, rows] of Map.groupBy(all, row => row.link_id))
    if (id > 0) await addVisits(tx, id, rows.length)
  return converted.map(row => (row && idOf.get(row)) ?? 0)
}

/** Links of campaigns, for those who earn most. @returns the link of an affiliate and campaign; 0 when there is none */
async function addLinks(
  tx: Tx,
  earners: readonly number[],
  { settings, origin }: { settings: Settings; origin: { time: number; actor: number } },
) {
  const names = CAMPAIGNS.filter(campaign => campaign !== '')
  const wanted = earners
    .slice(0, MOST_LINKS / names.length)
    .flatMap(affiliate_id => names.map(campaign => ({ affiliate_id, campaign })))
  const rows = wanted.map(({ affiliate_id, campaign }) => {
    const code = `${campaign}-${affiliate_id}`
    return link.newRow({ affiliate_id, campaign, code }, settings, origin)
  })
  const ids = await links.insertMany(tx, rows)
  return (affiliate: number, campaign: string) => {
    const place = wanted.findIndex(one => one.affiliate_id === affiliate && one.campaign === campaign)
    return ids[place] ?? 0
  }
}

function visitBefore(
  { affiliate_id, time, campaign }: Pick<Sale, 'affiliate_id' | 'time' | 'campaign'>,
  { chance: { random }, settings }: Visiting,
  linkOf: (affiliate: number, campaign: string) => number,
) {
  const url = SHOP.address + pick(PAGES, random)
  const args = { affiliate_id, url, referrer: pick(REFERRERS, random), campaign }
  const origin = { time: time - Math.floor(random() * VISITED_BEFORE_DAYS * DAY_SECONDS), actor: 0 }
  return { ...visit.newRow(args, settings, origin), link_id: linkOf(affiliate_id, campaign) }
}

async function addReferrals(
  tx: Tx,
  sales: readonly Sale[],
  visitIds: readonly number[],
  settings: Settings,
): Promise<Referral[]> {
  const rows = sales.map((sale, place) => rowOf(sale, place, visitIds[place]!, settings))
  const ids = await referrals.insertMany(tx, rows)
  for (const [place, id] of ids.entries()) {
    if (visitIds[place] !== 0) await visits.set(tx, visitIds[place]!, { referral_id: id })
  }
  return rows.map((row, place) => ({ ...row, id: ids[place]! }))
}

function rowOf(sale: Sale, place: number, visit_id: number, settings: Settings) {
  const { affiliate_id, status, campaign, amount, time } = sale
  const reference = String(FIRST_ORDER + place)
  const sent = { affiliate_id, status, campaign, visit_id, reference, context: SHOP.name }
  const args = { ...sent, description: `Order ${reference}`, currency: settings.currency }
  const row = referral.newRow(args, settings, { time, actor: 0 })
  return { ...row, amount, order_total: SALE_FOR_EARNED * amount }
}

interface Paying {
  readonly sales: readonly Sale[]
  /** The referrals of the sales. */
  readonly rows: readonly Referral[]
  readonly owner: number
  readonly chance: Chance
}

/** Adds the payouts, and posts them and what they pay, in the order of time. */
async function pay(tx: Tx, payments: readonly Payment[], { sales, rows, owner, chance }: Paying) {
  const paidBy = Map.groupBy(rows, (_, place) => sales[place]!.payout)
  const payoutRows = payments.map(({ number, affiliate_id, time }) => {
    const named = paidBy.get(number)!
    const amount = named.reduce((sum, row) => sum + row.amount, 0)
    return payoutRow(
      affiliate_id,
      { time, owner, amount, referrals: named.map(row => row.id).join(',') },
      chance,
    )
  })
  const names = payments.map(({ number }) => new Map(paidBy.get(number)!.map(row => [row.id, true])))
  const ids = await payouts.insertMany(tx, payoutRows, names)
  const postings = rows.map(row => ({
    time: row.created_at,
    post: () =>
      postReferral(tx, { after: row }, causeOf('referral.create', row.created_at, { referralId: row.id })),
  }))
  for (const [place, payoutId] of ids.entries()) {
    const { status, amount, affiliate_id: affiliateId, created_at: time } = payoutRows[place]!
    if (status !== 'paid') continue
    const paid = { status, payout_id: payoutId, updated_at: time } as const
    const changes = paidBy
      .get(payments[place]!.number)!
      .map(before => ({ before, after: { ...before, ...paid } }))
    for (const { before } of changes) await referrals.set(tx, before.id, paid)
    const net = BigInt(amount)
    const after = { affiliateId, status, amount: net, net, external: false }
    const cause = causeOf('payout.create', time, { payoutId })
    postings.push({ time, post: () => postPayout(tx, changes, { after }, cause) })
  }
  postings.sort((a, b) => a.time - b.time)
  await postTogether(tx, async () => {
    for (const { post } of postings) await post()
  })
}

/** Without an event: samples have none. */
const causeOf = <const R extends Reason, O>(reason: R, at: number, of: O) => ({
  reason,
  eventId: null,
  at,
  ...of,
})

/**
 * Reads WooCommerce's webhooks order.created and order.updated, which have the whole order with all its refunds, and
 * order.deleted, which has its number.
 * Followed: https://woocommerce.github.io/woocommerce-rest-api-docs/#order-properties
 */
import { decimalsOf } from '../../base/currencies.ts'
import { fromUnits, toUnits } from '../../base/money.ts'
import { formatTime } from '../../base/time.ts'
import { type Conversion, isPaid } from '../conversions/conversion.ts'
import { saysMore } from '../conversions/left.ts'
import { saleOf as saleIn } from '../conversions/sold.ts'
import {
  amountOf,
  type Json,
  list,
  names,
  number,
  object,
  originsOf,
  productIn,
  sharesOf,
  text,
  withoutEmpty,
} from './reading.ts'
import { type Delivery, ignored, type Unchecked } from './report.ts'
import type { Reports, Sender, Setup } from './sender.ts'
import { type Headers, headerOf, isSame, macOf } from './signatures.ts'

/** The ping by which WooCommerce checks the address. */
const PING = /^webhook_id=\d{1,20}$/

export const wooCommerce: Sender = {
  isSigned: ({ headers, body }, { secret }) =>
    isSame(macOf(secret, body), Buffer.from(headerOf(headers, 'x-wc-webhook-signature'), 'base64')),
  read: readOrder,
  isPing: body => PING.test(body.toString('latin1', 0, 40)),
}

const PAID = new Set(['processing', 'completed', 'refunded'])
const GIVEN_UP = new Set(['cancelled', 'failed', 'trash'])
/** Plugins have others: an order is in one of those, or on hold, before it is paid and after. */
const UNPAID = new Set(['', 'pending', 'checkout-draft', 'auto-draft', 'draft', 'new'])

/** By which WooCommerce says that an order was put into the trash. */
const DELETED = 'order.deleted'

async function readOrder(
  payload: unknown,
  _setup: Setup,
  reports: Reports,
  headers: Headers,
): Promise<Delivery> {
  const sent = object(payload)
  const reference = text(sent.id)
  const isDeleted = isDeletion(sent, headers)
  if (reference === '' || !(isDeleted || isOrder(sent))) return ignored('It is no order.')
  const references = names([text(sent.order_key), text(sent.transaction_id)], reference)
  const payment = { reference, references, currency: text(sent.currency) }
  const before = await reports.of(names([reference, ...references], ''))
  const order = isDeleted ? inTrash(reference, before) : sent
  const status = text(order.status)
  const sold = soldBy(order, payment, before)
  const conflict = await conflictOf(order, sold, reports)
  if (conflict !== undefined) return { event: reference, conversions: [], conflict }
  const conversions = conversionsOf(order, payment, sold)
  if (conversions.length > 0) return { conversions }
  const isUnknown = isDeleted && sold.sale === undefined
  return ignored(isUnknown ? 'No sale of the order is known.' : `The order is ${status}: it is not paid.`)
}

/** A subscription has the time of its last payment, which is an order of its own. */
const isOrder = (of: Json) =>
  of.billing_period === undefined && (of.total !== undefined || PAID.has(text(of.status)) || isDated(of))

/** The topic is not signed: it counts where nothing but the number is said, as WooCommerce does then. */
const isDeletion = (sent: Json, headers: Headers) =>
  headerOf(headers, 'x-wc-webhook-topic') === DELETED && Object.keys(sent).length === 1

/** When it was is not said: behind all that is known, and before it is restored, which may be reported at the same time. */
function inTrash(id: string, before: readonly Conversion[]): Json {
  const last = Math.max(0, ...before.map(({ occurred_at }) => occurred_at))
  return { id, status: 'trash', date_modified_gmt: formatTime(last + 1) }
}

/** Shops count their orders from the same numbers on. The keys of orders are random, so that who has one reports this order. */
async function conflictOf(order: Json, { sale }: Sold, reports: Reports): Promise<string | undefined> {
  const other = sale && (await reports.otherSourceOf(sale))
  if (!other) return undefined
  const ofKey = await reports.of(names([text(order.order_key)], ''))
  if (ofKey.some(({ id }) => id === sale.id)) return undefined
  return `The order was recorded by source ${other.id} (${other.name}), which has the same context. Numbers of orders and customers count within a context: give each shop one of its own. All webhooks of one shop belong to one source.`
}

const isDated = (order: Json) => Boolean(order.date_paid_gmt)

function conversionsOf(order: Json, payment: Payment, sold: Sold): readonly Unchecked[] {
  const status = text(order.status)
  const refunds = list(order.refunds).map(refund => refundOf(object(refund), payment))
  const isGivenUp = GIVEN_UP.has(status)
  if (PAID.has(status) || (isDated(order) && !isGivenUp && !UNPAID.has(status))) {
    const rest = status === 'refunded' ? restOf(refunds, payment, sold) : []
    return [saleOf(order, payment), ...refunds, ...rest, ...revivalOf(order, payment, sold)]
  }
  // Paid on delivery, it is sold before it has a time of payment.
  if (isGivenUp && (isDated(order) || sold.sale)) {
    return [...refunds, ...lossOf(order, payment, sold)]
  }
  return sold.sale ? refunds : []
}

/** An amount with its currency. */
interface Sum {
  readonly amount: unknown
  readonly currency: string
}

/** What an order was sold for. */
interface Sold {
  /** Undefined while none is recorded. */
  readonly sale: Conversion | undefined
  readonly whole: Sum
  /** What was reported of it before. */
  readonly before: readonly Conversion[]
}

/**
 * A sale stays as it was recorded, whatever is edited of the order later. One that only has the same transaction may be of
 * another order that was paid by it.
 */
function soldBy(order: Json, { reference, currency }: Payment, before: readonly Conversion[]): Sold {
  const own = [reference, ...names([text(order.order_key)], '')]
  const isOwn = (sale: Conversion) => namesIn(sale).some(name => own.includes(name))
  const sale = saleIn(before.filter(one => isPaid(one.kind) && isOwn(one)))
  const whole = sale
    ? { amount: fromUnits(sale.amount, decimalsOf(sale.currency)!), currency: sale.currency }
    : { amount: amountOf(order.total), currency }
  return { sale, whole, before }
}

const namesIn = ({ reference, aliases }: Conversion): string[] => [
  reference,
  ...(aliases === '' ? [] : JSON.parse(aliases)),
]

/** Between the amounts of deliveries and those of conversions. What is no amount is worth nothing. */
function unitsOf({ amount, currency }: Sum): number {
  const decimals = decimalsOf(currency.toUpperCase())
  if (typeof amount !== 'number' || decimals === undefined) return 0
  return toUnits(amount, decimals) ?? 0
}

/** An order that was paid and then given up earns nothing until it is paid again. */
function lossOf(order: Json, payment: Payment, { whole, before }: Sold): readonly Unchecked[] {
  if (whole.amount === 0) return [totalOf(payment, whole)]
  const units = unitsOf(whole)
  // What cannot be read is told as well, and refused.
  return units <= 0 || saysMore(before, BigInt(units)) ? [changeOf(order, payment, whole)] : []
}

/** The refund that includes all others. */
const totalOf = (payment: Payment, sum: Sum): Unchecked => ({
  kind: 'refund',
  cumulative: true,
  ...payment,
  ...sum,
})

/** How much of an order is given up since it was changed last: a dispute, which may be reversed. */
function changeOf(order: Json, payment: Payment, sum: Sum): Unchecked {
  const changedAt = text(order.date_modified_gmt)
  return {
    kind: 'dispute',
    cumulative: true,
    part: `order ${changedAt || 'given up'} of ${text(sum.amount)}`,
    ...payment,
    ...sum,
    ...(changedAt !== '' && { occurred_at: timeOf(changedAt) }),
  }
}

/**
 * An order that is refunded whole may have been sold for more than its refunds are, if it was edited in between, or one of them
 * is refused.
 */
function restOf(
  refunds: readonly Unchecked[],
  payment: Payment,
  { whole, before }: Sold,
): readonly Unchecked[] {
  const { currency } = whole
  const units = (amount: unknown) => unitsOf({ amount, currency })
  const isTaken = ({ part, amount }: Unchecked) =>
    payment.currency.toUpperCase() === currency.toUpperCase() &&
    before.every(one => one.kind !== 'refund' || one.part !== part || one.amount === units(amount))
  const refunded = refunds.filter(isTaken).reduce((sum, { amount }) => sum + units(amount), 0)
  const isAll = refunds.length > 0 && refunded >= unitsOf(whole)
  return isAll || typeof whole.amount !== 'number' ? [] : [totalOf(payment, whole)]
}

const timeOf = (date: string) => date.replace('T', ' ').slice(0, 19)

/** A paid order may have been given up before. */
function revivalOf(order: Json, payment: Payment, { whole, before }: Sold): readonly Unchecked[] {
  // Without a time it would not be known what came last, and what cost nothing cannot be paid again.
  const isTold = text(order.date_modified_gmt) !== '' && whole.amount !== 0
  const mayHaveBeen = isChanged(order) || before.some(({ kind }) => kind === 'dispute')
  const { currency } = whole
  return isTold && mayHaveBeen && saysMore(before, 0n)
    ? [changeOf(order, payment, { amount: 0, currency })]
    : []
}

const AT_ONCE_SECONDS = 60

/**
 * Whether an order was changed after it was paid, as one is that was given up and is paid again: both may be delivered at the same
 * time. The payment itself changes an order for the next seconds. Without a total there is no sale, and a completed order is
 * rarely given up.
 */
function isChanged(order: Json): boolean {
  if (text(order.status) !== 'processing' || !number(order.total)) return false
  const [paid, changed] = [paidAt(order), text(order.date_modified_gmt)].map(date => Date.parse(`${date}Z`))
  return changed! - paid! > AT_ONCE_SECONDS * 1000
}

const paidAt = (order: Json) => text(order.date_paid_gmt) || text(order.date_created_gmt)

interface Payment {
  readonly reference: string
  readonly references: readonly string[]
  readonly currency: string
}

function saleOf(order: Json, payment: Payment): Unchecked {
  const billing = object(order.billing)
  const meta = metaOf(order)
  const customer = number(order.customer_id) ?? 0
  const paid = paidAt(order)
  const amount = amountOf(order.total)
  const [tax, shipping] = [amountOf(order.total_tax), amountOf(order.shipping_total)]
  return {
    kind: meta.has('_subscription_renewal') ? 'renewal' : 'sale',
    ...payment,
    amount,
    ...sharesOf(amount, { tax, shipping }),
    discount: amountOf(order.discount_total),
    lines: list(order.line_items).map(item => lineOf(object(item))),
    customer: withoutEmpty({
      id: customer === 0 ? '' : String(customer),
      email: text(billing.email),
      first_name: text(billing.first_name),
      last_name: text(billing.last_name),
      country: text(billing.country),
    }),
    ...originsOf({
      click: meta.get('aff_click'),
      affiliate: meta.get('affiliate_id'),
      coupon: object(list(order.coupon_lines)[0]).code,
    }),
    ...withoutEmpty({ occurred_at: timeOf(paid) }),
  }
}

const metaOf = (order: Json): Map<string, unknown> =>
  new Map(list(order.meta_data).map(item => [text(object(item).key), object(item).value]))

function lineOf(item: Json) {
  return {
    ...withoutEmpty({ product: productIn(text(item.sku)) || text(item.product_id) }),
    quantity: Math.max(1, Math.round(number(item.quantity) ?? 1)),
    amount: amountOf(item.total, amount => Math.max(0, amount)),
  }
}

function refundOf(refund: Json, payment: Payment): Unchecked {
  return { kind: 'refund', part: text(refund.id), ...payment, amount: amountOf(refund.total, Math.abs) }
}

/**
 * The amount of a new referral: the one that was sent, exchanged if it is in another currency. If none was sent, the commission
 * rules compute it from the total of the order.
 */
import { decimalsOf } from '../../base/currencies.ts'
import { toUnits } from '../../base/money.ts'
import type { Settings } from '../../base/settings.ts'
import type { Db, Tx } from '../../storage/database.ts'
import { ENDED, isEnded, isOwedAtOnce, monthsSince } from '../commission/engine.ts'
import {
  type Commission,
  columnsOf,
  commissionOf,
  commissionOfAmount,
  holdUntil,
  judgedInTurn,
} from '../commission/judging.ts'
import type { Line, Sale } from '../commission/sale.ts'
import type { Referral } from './referral.ts'
import type { CreateArguments } from './schema.ts'
import { ordersOf } from './store.ts'
import { isCorrection } from './types.ts'

type NewRow = Pick<
  Referral,
  | 'affiliate_id'
  | 'amount'
  | 'campaign'
  | 'created_at'
  | 'customer_id'
  | 'hold_until'
  | 'order_total'
  | 'status'
  | 'type'
>

/** The arguments to name when an amount is too large: if the rules have computed the amount, and if it was sent. */
const byTotal = { commission: 'order_total', orderTotal: 'order_total' }
const byAmount = { commission: 'amount', orderTotal: 'order_total' }

/** The settings with the currency that was sent, to read amounts in it. */
export function inCurrencyOf(
  { currency: sentCurrency }: { readonly currency?: string },
  settings: Settings,
): Settings {
  const currency = sentCurrency?.toUpperCase() ?? settings.currency
  const decimals = decimalsOf(currency)
  return currency === settings.currency || decimals === undefined
    ? settings
    : { ...settings, currency, decimals }
}

/**
 * The row with the amounts in the programme's currency, and the columns that explain them.
 * @param newRow its amounts are in the currency that was sent
 * @throws Failure invalid_argument if an amount would be larger than one can be
 */
export async function withCommission<R extends NewRow>(
  tx: Tx,
  settings: Settings,
  args: CreateArguments,
  newRow: R,
): Promise<R> {
  const { currency, decimals } = inCurrencyOf(args, settings)
  const byRules = args.amount === undefined && newRow.order_total !== null && !isCorrection(newRow.type)
  if (!byRules && currency === settings.currency) return newRow
  const { order_total: orderTotal, affiliate_id: affiliateId } = newRow
  const sale = byRules ? await saleOf(tx, newRow, { currency, decimals, products: args.products }) : null
  const commission = sale
    ? await judgedInTurn(tx, settings, { affiliateId }, () =>
        commissionOf(tx, settings, { sale, affiliateId, orderTotal }, byTotal),
      )
    : await commissionOfAmount(
        tx,
        settings,
        { amount: newRow.amount, currency, at: newRow.created_at, orderTotal },
        byAmount,
      )
  return { ...newRow, ...earnedBy(commission, sale, args, newRow) }
}

function earnedBy(
  commission: Commission,
  sale: Sale | null,
  args: CreateArguments,
  newRow: NewRow,
): Partial<Referral> {
  const { judgement, amount } = commission
  const isDraft = judgement.reason !== ''
  const heldUntil = newRow.hold_until ?? holdUntil(judgement, newRow.created_at)
  const hasEnded = isEnded(judgement.parts) && args.status === undefined
  const byRules = hasEnded ? 'rejected' : isOwedAtOnce(judgement) ? 'unpaid' : newRow.status
  const status = args.status ?? byRules
  const wantedStatus = args.status ?? (newRow.type === 'write_off' ? 'unpaid' : null)
  const target = { status: wantedStatus, holdUntil: newRow.hold_until }
  return {
    ...columnsOf(commission, { sale, wanted: target }),
    ...(hasEnded && { reason: ENDED }),
    amount,
    status: isDraft ? 'draft' : status,
    hold_until: status === 'pending' && !isDraft ? heldUntil : null,
    order_total: commission.orderTotal,
  }
}

async function saleOf(
  db: Db,
  { order_total, type, campaign, created_at: occurredAt, customer_id }: NewRow,
  { currency, decimals, products }: { currency: string; decimals: number; products: unknown },
): Promise<Sale> {
  const before = customer_id === 0 ? undefined : await ordersOf(db, customer_id, occurredAt)
  return {
    kind: type === 'sale' ? 'sale' : 'lead',
    amount: BigInt(order_total!),
    tax: 0n,
    shipping: 0n,
    currency,
    decimals,
    lines: linesOf(products, value => toUnits(value, decimals)),
    country: '',
    coupon: '',
    campaign,
    occurredAt,
    order: before ? before.count + 1 : null,
    months: before ? monthsSince(before.first ?? occurredAt, occurredAt) : null,
  }
}

/** Lines of a sale from products as clients send them; products without a price are left out. */
function linesOf(products: unknown, toMinor: (value: number) => number | undefined): Line[] {
  if (!Array.isArray(products)) return []
  return products.flatMap(product => lineOf(product, toMinor) ?? [])
}

function lineOf(product: unknown, toMinor: (value: number) => number | undefined): Line | undefined {
  if (typeof product !== 'object' || product === null) return undefined
  const of: Record<string, unknown> = { ...product }
  const price = toMinor(Number(of.amount ?? of.price))
  const name = of.product ?? of.id ?? of.name
  if (price === undefined || (typeof name !== 'string' && typeof name !== 'number')) return undefined
  const quantity = Number(of.quantity ?? 1)
  const categories = Array.isArray(of.categories) ? of.categories : [of.category ?? []].flat()
  return {
    product: String(name),
    categories: categories.filter(category => typeof category === 'string'),
    quantity: Number.isSafeInteger(quantity) && quantity > 0 ? quantity : 1,
    amount: BigInt(price),
  }
}

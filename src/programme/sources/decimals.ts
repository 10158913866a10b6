/**
 * Shops may count in more decimals than a currency has. A sale is not lost by that: its amounts are rounded, each in the
 * same way whenever it is sent. Pure.
 */
import { decimalsOf } from '../../base/currencies.ts'
import { roundedTo } from '../../base/money.ts'
import { isObject } from '../../base/unknown.ts'
import { number } from './reading.ts'
import type { Unchecked } from './report.ts'
import type { Sender } from './sender.ts'

/** Leaves what is no amount as it is, and all of it where the currency is not known, for the interface to refuse. */
function roundingIn(currency: unknown): (value: unknown) => unknown {
  const decimals = typeof currency === 'string' ? decimalsOf(currency.toUpperCase()) : undefined
  return value => {
    const amount = decimals === undefined ? undefined : number(value)
    return amount === undefined ? value : roundedTo(amount, decimals!)
  }
}

const totals = ['total', 'total_tax', 'shipping_total', 'discount_total']

/** An order of WooCommerce, which has as many decimals as its shop shows. */
function orderRounded(order: unknown): unknown {
  if (!isObject(order)) return order
  const round = roundingIn(order.currency)
  const whole: Record<string, unknown> = { ...order }
  for (const name of totals) if (name in whole) whole[name] = round(whole[name])
  for (const name of ['line_items', 'refunds']) {
    const items = whole[name]
    if (Array.isArray(items))
      whole[name] = items.map(item => (isObject(item) ? { ...item, total: round(item.total) } : item))
  }
  return whole
}

export const roundingOrders = (sender: Sender): Sender => ({
  ...sender,
  read: (order, ...rest) => sender.read(orderRounded(order), ...rest),
})

/** Its parts still fit into the amount, if they did before. */
export function reportRounded(report: Unchecked, currency: string): Unchecked {
  const round = roundingIn(currency)
  const after: Unchecked = { ...report }
  for (const name of ['amount', 'tax', 'shipping', 'discount'])
    if (name in after) after[name] = round(after[name])
  const { amount, tax = 0, shipping } = after
  if (typeof amount !== 'number' || typeof tax !== 'number' || typeof shipping !== 'number') return after
  const parts = round(Number(report.tax ?? 0) + Number(report.shipping))
  if (Number(parts) <= amount && tax + shipping > amount) after.shipping = round(amount - tax)
  return after
}

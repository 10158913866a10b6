/**
 * Reads Stripe's webhooks. The names of one payment are spread over several objects: a checkout session names the payment
 * intent or the invoice; since API version 2025-03-31 an invoice names neither intent nor charge, and `invoice_payment.paid`
 * joins invoice and intent; a charge names the intent. Older versions named them in the invoice, which is read as well.
 * Followed: https://docs.stripe.com/api/events/types, https://docs.stripe.com/currencies#zero-decimal
 */

import {
  amountOf,
  idOf,
  type Json,
  list,
  moment,
  names,
  number,
  object,
  originsOf,
  sharesOf,
  text,
  withoutEmpty,
} from './reading.ts'
import { type Delivery, ignored } from './report.ts'
import type { Sender } from './sender.ts'
import { headerOf, type Signed } from './signatures.ts'

const ZERO_DECIMALS = new Set('bif clp djf gnf jpy kmf krw mga pyg rwf vnd vuv xaf xof xpf'.split(' '))
const THREE_DECIMALS = new Set('bhd jod kwd omr tnd'.split(' '))

const TOLERANCE_SECONDS = 300

/** By Stripe's own library, which is large: it is loaded when the first delivery arrives. */
async function isSignedByStripe({ headers, body, at }: Signed, secret: string): Promise<boolean> {
  const { Stripe } = await import('stripe')
  const { signature } = Stripe.webhooks
  const header = headerOf(headers, 'stripe-signature')
  try {
    return signature!.verifyHeader(body, header, secret, TOLERANCE_SECONDS, undefined, at * 1000)
  } catch {
    // Not only its own errors: a signature without a value raises another.
    return false
  }
}

/** Stripe counts some currencies in other units than ISO 4217 does. */
function amountIn(currency: string, value: unknown): unknown {
  const scale = ZERO_DECIMALS.has(currency) ? 1 : THREE_DECIMALS.has(currency) ? 1000 : 100
  return amountOf(value, units => units / scale)
}

/** The amounts of several objects, such as taxes. Left as they are where one of them has none. */
function sumOf(values: unknown): unknown {
  const amounts = list(values).map(one => number(object(one).amount))
  if (!Array.isArray(values) || amounts.includes(undefined)) return values
  return amounts.reduce<number>((sum, amount = 0) => sum + amount, 0)
}

export const stripe: Sender = {
  isSigned: (delivery, { secret }) => isSignedByStripe(delivery, secret),
  read: (payload, { mode }) => readStripe(payload, mode),
}

/**
 * A source reads either test or live events. An address for live events may get test events as well: of connected accounts, and
 * after the wrong secret was entered.
 */
function readStripe(payload: unknown, mode: 'live' | 'test'): Delivery {
  const event = object(payload)
  const isTest = event.livemode === false
  if (isTest !== (mode === 'test')) {
    return ignored(`The source takes ${mode} events, and this is one of ${isTest ? 'test' : 'live'} mode.`)
  }
  const of = object(object(event.data).object)
  const at = number(event.created)
  const occurred = at === undefined ? {} : { occurred_at: moment(at) }
  const type = text(event.type)
  const reader = Object.hasOwn(readers, type) ? readers[type] : undefined
  if (!reader) return ignored(`Events of the type ${type || 'none'} are not read.`)
  const delivery = reader(of)
  return {
    ...delivery,
    event: text(event.id) || type,
    conversions: delivery.conversions.map(conversion => ({ ...conversion, ...occurred })),
  }
}

const readers: Readonly<Record<string, (of: Json) => Delivery>> = {
  'checkout.session.completed': readSession,
  'checkout.session.async_payment_succeeded': readSession,
  'invoice.paid': readInvoice,
  'invoice_payment.paid': readInvoicePayment,
  'charge.refunded': readRefund,
  'charge.dispute.created': readDispute,
  'charge.dispute.closed': readDispute,
}

/** In the reference of the session, or in metadata of any object. */
const originsIn = ({ aff_click, affiliate_id, coupon }: Json, reference = '') =>
  originsOf({ click: text(aff_click) || reference, affiliate: affiliate_id, coupon })

function readSession(session: Json): Delivery {
  const status = text(session.payment_status)
  if (session.mode === 'setup') return ignored('The session only stores a way to pay.')
  if (status === 'unpaid') return ignored('The session is not paid yet.')
  const currency = text(session.currency)
  const details = object(session.total_details)
  const customer = object(session.customer_details)
  const id = text(session.id)
  return {
    conversions: [
      {
        // A trial costs nothing: it makes the customer the affiliate's, and what is paid later is a renewal.
        kind: status === 'no_payment_required' ? 'lead' : 'sale',
        reference: id,
        references: names([idOf(session.payment_intent), idOf(session.invoice)], id),
        amount: amountIn(currency, session.amount_total),
        tax: amountIn(currency, details.amount_tax),
        shipping: amountIn(currency, details.amount_shipping),
        discount: amountIn(currency, details.amount_discount),
        ...(currency !== '' && { currency }),
        customer: withoutEmpty({
          id: idOf(session.customer),
          email: text(customer.email) || text(session.customer_email),
          country: text(object(customer.address).country),
        }),
        ...originsIn(object(session.metadata), text(session.client_reference_id)),
      },
    ],
  }
}

function readInvoice(invoice: Json): Delivery {
  const paid = amountOf(invoice.amount_paid)
  if (paid === 0) return ignored('Nothing was paid.')
  const currency = text(invoice.currency)
  const total = amountOf(invoice.total) ?? paid
  // The customer's balance may have paid a part of it.
  const isRead = typeof paid === 'number' && typeof total === 'number'
  const partOf = (value: unknown) =>
    isRead ? amountOf(value, amount => Math.round((amount * paid) / Math.max(total, paid))) : value
  const id = text(invoice.id)
  const payments = list(object(invoice.payments).data).map(item => object(object(item).payment))
  const details = object(object(invoice.parent).subscription_details ?? invoice.subscription_details)
  const shares = sharesOf(paid, {
    tax: partOf(invoice.tax ?? sumOf(invoice.total_taxes ?? invoice.total_tax_amounts)),
    shipping: partOf(object(invoice.shipping_cost).amount_total),
  })
  return {
    conversions: [
      {
        kind: text(invoice.billing_reason) === 'subscription_cycle' ? 'renewal' : 'sale',
        reference: id,
        references: names(
          [
            idOf(invoice.payment_intent),
            idOf(invoice.charge),
            ...payments.flatMap(payment => [idOf(payment.payment_intent), idOf(payment.charge)]),
          ],
          id,
        ),
        amount: typeof total === 'number' ? amountIn(currency, paid) : total,
        tax: amountIn(currency, shares.tax),
        shipping: amountIn(currency, shares.shipping),
        discount: amountIn(currency, sumOf(invoice.total_discount_amounts)),
        currency,
        customer: withoutEmpty({
          id: idOf(invoice.customer),
          email: text(invoice.customer_email),
          country: text(object(invoice.customer_address).country),
        }),
        ...originsIn({ ...object(details.metadata), ...object(invoice.metadata) }),
      },
    ],
  }
}

/** No sale: it says that invoice and intent are names of one payment. */
function readInvoicePayment(invoicePayment: Json): Delivery {
  const payment = object(invoicePayment.payment)
  return {
    conversions: [],
    names: names([idOf(invoicePayment.invoice), idOf(payment.payment_intent), idOf(payment.charge)], ''),
  }
}

/** Reports the total refunded of a charge so far, which may be one of several that have paid an invoice. */
function readRefund(charge: Json): Delivery {
  const currency = text(charge.currency)
  const id = text(charge.id)
  return {
    conversions: [
      {
        kind: 'refund',
        cumulative: true,
        part: id,
        reference: id,
        references: names([idOf(charge.payment_intent), idOf(charge.invoice)], id),
        amount: amountIn(currency, charge.amount_refunded),
        currency,
      },
    ],
  }
}

function readDispute(dispute: Json): Delivery {
  const status = text(dispute.status)
  if (status.startsWith('warning_')) return ignored('An inquiry takes nothing back.')
  const currency = text(dispute.currency)
  const charge = idOf(dispute.charge)
  return {
    conversions: [
      {
        // A lost dispute keeps what it took when it was opened, even if nobody reported the opening.
        kind: status === 'won' ? 'dispute_won' : 'dispute',
        part: text(dispute.id),
        reference: charge,
        references: names([idOf(dispute.payment_intent)], charge),
        amount: amountIn(currency, dispute.amount),
        currency,
      },
    ],
  }
}

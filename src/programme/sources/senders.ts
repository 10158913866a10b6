import { roundingOrders } from './decimals.ts'
import { generic } from './generic.ts'
import type { Sender } from './sender.ts'
import type { Source } from './source.ts'
import { stripe } from './stripe.ts'
import { wooCommerce } from './woocommerce.ts'

export const senders: Readonly<Record<Source['type'], Sender>> = {
  stripe,
  woocommerce: roundingOrders(wooCommerce),
  generic,
}

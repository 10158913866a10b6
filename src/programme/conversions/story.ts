/** Reads the full history of a conversion. */
import type { Context } from '../../events/write.ts'
import { existing } from '../../records/rules.ts'
import { correctionsOf } from '../ledger/store.ts'
import { type Conversion, conversion, isReversal } from './conversion.ts'
import { currencyOf } from './earlier.ts'
import type { Story } from './explanation.ts'
import { namesOf } from './fact.ts'
import { paymentsNamed } from './names-store.ts'
import { readPayment } from './payments.ts'
import type { CreateArguments } from './schema.ts'
import { inCurrencyOfSale } from './sold.ts'
import * as store from './store.ts'
import type { Related } from './timeline.ts'

/** The full history of a conversion. @throws Failure no_conversion */
export async function story({ database }: Context, id: number): Promise<Story> {
  const db = database.replica
  const found = existing(conversion, await store.conversionById(db, id))
  const { context, reference } = found
  const [paymentId] = await paymentsNamed(db, { context, names: [reference] })
  const { members } = await readPayment(db, paymentId!)
  const referrals = await store.referralsOf(db, paymentId!)
  return { conversion: found, payment: members, referrals }
}

/** The same, with its visits and payouts. @throws Failure no_conversion */
export async function storyWithRelated(context: Context, id: number): Promise<Story & { related: Related }> {
  const whole = await story(context, id)
  const ids = (values: readonly number[]) => [...new Set(values)].filter(one => one !== 0)
  const visits = ids(whole.payment.map(one => one.visit_id))
  const payouts = ids(whole.referrals.map(one => one.payout_id))
  const db = context.database.replica
  const [records, corrections] = await Promise.all([
    store.relatedOf(db, visits, payouts),
    correctionsOf(
      db,
      whole.referrals.map(({ id }) => id),
    ),
  ])
  return { ...whole, related: { ...records, corrections } }
}

/** What was reported of a payment so far, under any of these names: all of it that the next report will join. */
export async function reportsOf(
  { database }: Context,
  shop: string,
  [reference = '', ...references]: readonly string[],
): Promise<readonly Conversion[]> {
  const db = database.reader
  const ids = await paymentsNamed(db, namesOf({ context: shop, reference, references }))
  const payments = await Promise.all(ids.map(id => readPayment(db, id)))
  return payments.flatMap(({ members }) => members)
}

/** The currency of a report that names none. */
export async function currencyUnsaid(
  context: Context,
  shop: string,
  sent: Pick<CreateArguments, 'kind' | 'part' | 'reference'>,
): Promise<string> {
  // Only what takes from a sale has its currency.
  const members = isReversal(sent.kind) ? await reportsOf(context, shop, [sent.reference]) : []
  return currencyOf(sent, inCurrencyOfSale(members), await context.settings.current())
}

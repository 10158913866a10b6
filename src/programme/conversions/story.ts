/** Reads the whole story of a conversion. */
import { foldCase } from '../../base/text.ts'
import type { Context } from '../../events/write.ts'
import { existing } from '../../records/rules.ts'
import type { Db } from '../../storage/database.ts'
import { type Conversion, conversion } from './conversion.ts'
import { MOST_MEMBERS } from './earning.ts'
import type { Story } from './explanation.ts'
import * as store from './store.ts'
import type { Beside } from './timeline.ts'

/** What follows from everything that was reported of a payment. */
export async function storyOf(db: Db, of: Conversion, payment: readonly Conversion[]): Promise<Story> {
  const referrals = await store.referralsOf(
    db,
    payment.map(({ id }) => id),
  )
  return { conversion: of, payment, referrals }
}

/** The whole story of a conversion. @throws Failure no_conversion */
export async function story({ database }: Context, id: number): Promise<Story> {
  const db = database.replica
  const found = existing(conversion, await store.conversionById(db, id))
  const paymentId = await store.paymentOf(db, found)
  const payment = paymentId === undefined ? [found] : await store.membersOf(db, paymentId, MOST_MEMBERS)
  return storyOf(db, found, payment)
}

/** The same with what stands beside it. @throws Failure no_conversion */
export async function storyWithBeside(context: Context, id: number): Promise<Story & { beside: Beside }> {
  const whole = await story(context, id)
  const ids = (values: readonly number[]) => [...new Set(values)].filter(one => one !== 0)
  const visits = ids(whole.payment.map(one => one.visit_id))
  const payouts = ids(whole.referrals.map(one => one.payout_id))
  return { ...whole, beside: await store.besideOf(context.database.replica, visits, payouts) }
}

/** Whether a payment was ever disputed. */
export async function isDisputed({ database }: Context, shop: string, reference: string): Promise<boolean> {
  const db = database.reader
  const id = await store.paymentOf(db, { context: foldCase(shop), reference })
  const payment = id === undefined ? [] : await store.membersOf(db, id, MOST_MEMBERS)
  return payment.some(({ kind }) => kind === 'dispute')
}

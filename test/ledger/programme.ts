/** The programme's rules on a database, as histories do operations with them. */
import { sql } from 'kysely'
import type { Database } from '../../src/storage/database.ts'
import type { Programme } from './history.ts'
import type { Figures, Operation, Refusal } from './model.ts'

/** Where the rules are read from: the sources, or a copy of them in which something was changed. */
export async function programmeOn(database: Database, source: URL): Promise<Programme> {
  const read = (path: string) => import(new URL(path, source).href)
  const [
    affiliates,
    { rules: referrals },
    { rules: payouts },
    ledger,
    settings,
    { Failure },
    { commandLine },
  ] = await Promise.all([
    read('programme/affiliates/rules.ts'),
    read('programme/referrals/rules.ts'),
    read('programme/payouts/rules.ts'),
    read('programme/ledger/rules.ts'),
    read('settings/rules.ts'),
    read('base/errors.ts'),
    read('base/actor.ts'),
  ])
  const { reader } = database
  const users = await reader.selectFrom('users').select('id').orderBy('id').limit(1).execute()
  const actor = { ...commandLine.actor, userId: users[0]!.id }
  const context = { ...settings.contextOf(database), actor, address: '' }
  const money = (units: number | undefined) => (units === undefined ? {} : { amount: units / 100 })
  let number = 0

  async function done(operation: Operation): Promise<{ id: number }> {
    switch (operation.do) {
      case 'create referral': {
        const { affiliate, type, status, amount } = operation
        const { row } = await referrals.create(context, {
          affiliate_id: affiliate,
          type,
          status,
          ...money(amount),
        })
        return row
      }
      case 'edit referral': {
        const { referral, affiliate, status, amount } = operation
        return referrals.edit(context, {
          referral_id: referral,
          ...(affiliate !== undefined && { affiliate_id: affiliate }),
          ...(status && { status }),
          ...money(amount),
        })
      }
      case 'delete referral':
        return referrals.remove(context, operation.referral)
      case 'create payout': {
        const { affiliate, names, status, amount } = operation
        return payouts.create(context, {
          affiliate_id: affiliate,
          referrals: names,
          status,
          ...money(amount),
        })
      }
      case 'edit payout': {
        const { payout, affiliate, names, status, amount } = operation
        return payouts.edit(context, {
          payout_id: payout,
          affiliate_id: affiliate,
          ...(names && { referrals: names }),
          ...(status && { status }),
          ...money(amount),
        })
      }
      case 'delete payout':
        return payouts.remove(context, operation.payout)
      case 'delete affiliate':
        return affiliates.remove(context, operation.affiliate)
    }
  }

  return {
    async newAffiliate() {
      number += 1
      const payment_email = `earner${number}.${process.hrtime.bigint()}@example.com`
      return (await affiliates.create(context, { create_user: true, payment_email })).id
    },
    async perform(operation) {
      try {
        return { id: (await done(operation)).id }
      } catch (error) {
        if (!(error instanceof Failure)) throw error
        return { refusal: (error as { failure: Refusal }).failure }
      }
    },
    async figures(affiliate, isGone) {
      const balances: Record<string, bigint> = await ledger.balancesOf(reader, affiliate)
      const figures = Object.fromEntries(Object.entries(balances).map(([name, sum]) => [name, Number(sum)]))
      const row = isGone
        ? undefined
        : await reader
            .selectFrom('affiliates')
            .select(['earnings', 'unpaid_earnings', 'referrals'])
            .where('id', '=', affiliate)
            .executeTakeFirstOrThrow()
      return { ...figures, record: row && { ...row } } as Figures
    },
    problems: ids => problemsOf(database, ids),
  }
}

/** How often something goes from one account to another. */
export async function kindsOfTransfer({ reader }: Database): Promise<Map<string, number>> {
  const rows = await reader
    .selectFrom('ledger_transfers')
    .select(['debit', 'credit', sql<number>`count(*)`.as('count')])
    .groupBy(['debit', 'credit'])
    .execute()
  return new Map(rows.map(({ debit, credit, count }) => [`${debit} -> ${credit}`, count]))
}

/** What is wrong with the rows themselves, whatever the model says. */
async function problemsOf({ reader }: Database, ids: readonly number[]): Promise<string[]> {
  const own = sql.join(ids)
  const { rows: sums } = await sql<{ affiliate_id: number; account: string }>`
    SELECT affiliate_id, account, sum(amount) AS off FROM (
      SELECT affiliate_id, account, amount FROM balances
      UNION ALL SELECT affiliate_id, debit, amount FROM ledger_transfers
      UNION ALL SELECT affiliate_id, credit, -amount FROM ledger_transfers
    ) AS parts WHERE affiliate_id IN (${own}) GROUP BY affiliate_id, account HAVING sum(amount) <> 0`.execute(
    reader,
  )
  const { rows: twice } = await sql<{ referral_id: number }>`
    SELECT referral_id FROM payout_referrals JOIN payouts ON payouts.id = payout_id
    WHERE known = 1 AND status = 'paid' AND affiliate_id IN (${own}) GROUP BY referral_id HAVING count(*) > 1`.execute(
    reader,
  )
  const { rows: unlike } = await sql<{ id: number }>`
    SELECT id FROM referrals WHERE affiliate_id IN (${own}) AND (payout_id <> 0) <> EXISTS (
      SELECT 1 FROM payout_referrals JOIN payouts ON payouts.id = payout_referrals.payout_id
      WHERE known = 1 AND payouts.status = 'paid' AND referral_id = referrals.id AND payouts.id = referrals.payout_id)`.execute(
    reader,
  )
  return [
    ...sums.map(
      row => `balance ${row.account} of affiliate ${row.affiliate_id} is not the sum of its transfers`,
    ),
    ...twice.map(row => `referral ${row.referral_id} is paid by two payouts`),
    ...unlike.map(row => `referral ${row.id} is not paid by the payout that it says`),
  ]
}

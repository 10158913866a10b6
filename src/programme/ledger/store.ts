/** Every query on transfers and balances. Nothing else writes them, and nothing ever changes a transfer. */
import { type Insertable, sql } from 'kysely'
import type { Db, Tx } from '../../storage/database.ts'
import { prepared } from '../../storage/prepared.ts'
import { exactSum, unitsOfSum } from '../../storage/sums.ts'
import type { Account } from './holdings.ts'
import type { BalancesTable, LedgerTransfersTable } from './table.ts'

const insertion = prepared((tx: Db, rows: Insertable<LedgerTransfersTable>[]) =>
  tx.insertInto('ledger_transfers').values(rows),
)

export async function insertTransfers(tx: Tx, rows: Insertable<LedgerTransfersTable>[]): Promise<void> {
  await insertion(tx, rows)
}

const addition = prepared((tx: Db, rows: Insertable<BalancesTable>[]) =>
  tx
    .insertInto('balances')
    .values(rows)
    .onConflict(conflict =>
      conflict
        .columns(['affiliate_id', 'account'])
        .doUpdateSet({ amount: sql<number>`balances.amount + excluded.amount` }),
    ),
)

/** @param rows in order of affiliate and account, so that two who add at the same moment don't wait for one another */
export async function addToBalances(tx: Tx, rows: Insertable<BalancesTable>[]): Promise<void> {
  await addition(tx, rows)
}

const balances = prepared((db: Db, { affiliateId }: { affiliateId: number }) =>
  db
    .selectFrom('balances')
    .select(['account', sql<string>`cast(amount as text)`.as('amount')])
    .where('affiliate_id', '=', affiliateId),
)

/** Accounts that nothing was ever posted to are not among them. */
export async function balancesOf(db: Db, affiliateId: number): Promise<Map<Account, bigint>> {
  const rows = await balances(db, { affiliateId })
  return new Map(rows.map(({ account, amount }) => [account, BigInt(amount)]))
}

const sums = prepared((db: Db, { affiliateId, last }: { affiliateId: number; last: number }) =>
  db
    .selectFrom('ledger_transfers')
    .select(['debit', 'credit', exactSum(sql.ref('amount')).as('sum')])
    .where('affiliate_id', '=', affiliateId)
    .where('at', '<=', last)
    .groupBy(['debit', 'credit']),
)

/** What the balances were at the end of a second. */
export async function balancesAt(db: Db, affiliateId: number, last: number): Promise<Map<Account, bigint>> {
  const totals = new Map<Account, bigint>()
  for (const { debit, credit, sum } of await sums(db, { affiliateId, last })) {
    const amount = unitsOfSum(sum)
    totals.set(debit, (totals.get(debit) ?? 0n) - amount)
    totals.set(credit, (totals.get(credit) ?? 0n) + amount)
  }
  return totals
}

import { identity, integer, neither, nullable, type RowsOf, type Table, text } from '../../storage/table.ts'
import type { Account } from './holdings.ts'

/** Text where a JavaScript number does not hold it. */
const amount = integer<number | bigint | string>({ personal: false, money: true })

const number = nullable(integer(neither))

const transferColumns = {
  id: identity,
  affiliate_id: integer({
    ...neither,
    references: { table: 'affiliates', person: true, outlives: true },
  }),
  /** More than 0. */
  amount,
  /** Where it comes from. */
  debit: text<Account>(neither),
  /** Where it goes. */
  credit: text<Account>(neither),
  /** The action that it follows from, such as 'referral.create'. */
  reason: text(neither),
  referral_id: number,
  payout_id: number,
  run_item_id: number,
  /** Rows with the same event belong together; null for what was paid before there was a ledger. */
  event_id: number,
  at: integer(neither),
} as const

/** One amount of one affiliate that goes from one account to another. The database refuses to change or remove any. */
export const transfersTable = {
  name: 'ledger_transfers',
  key: ['id'],
  columns: transferColumns,
  copied: 'rows',
  appendOnly: true,
} as const satisfies Table

const balanceColumns = {
  affiliate_id: integer({ ...neither, references: { table: 'affiliates', person: true, outlives: true } }),
  account: text<Account>(neither),
  amount,
} as const

/** The sum of the transfers into an account less those out of it. Written by `post` alone. */
export const balancesTable = {
  name: 'balances',
  key: ['affiliate_id', 'account'],
  columns: balanceColumns,
  copied: 'rows',
} as const satisfies Table

export interface LedgerTransfersTable extends RowsOf<typeof transferColumns> {}
export interface BalancesTable extends RowsOf<typeof balanceColumns> {}

declare module '../../storage/tables.ts' {
  interface Tables {
    ledger_transfers: LedgerTransfersTable
    balances: BalancesTable
  }
}

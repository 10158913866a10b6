import type { Identity } from '../../storage/tables.ts'
import type { Account } from './holdings.ts'

/** One amount of one affiliate that goes from one account to another. The database refuses to change or remove any. */
export interface LedgerTransfersTable {
  id: Identity
  affiliate_id: number
  /** More than 0. Text where a JavaScript number does not hold it. */
  amount: number | bigint | string
  /** Where it comes from. */
  debit: Account
  /** Where it goes. */
  credit: Account
  /** The action that it follows from, such as 'referral.create'. */
  reason: string
  referral_id: number | null
  payout_id: number | null
  run_item_id: number | null
  /** Rows with the same event belong together; null for what was paid before there was a ledger. */
  event_id: number | null
  at: number
}

/** The sum of the transfers into an account less those out of it. Written by `post` alone. */
export interface BalancesTable {
  affiliate_id: number
  account: Account
  amount: number | bigint | string
}

declare module '../../storage/tables.ts' {
  interface Tables {
    ledger_transfers: LedgerTransfersTable
    balances: BalancesTable
  }
}

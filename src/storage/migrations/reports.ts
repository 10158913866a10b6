import type { Engine } from '../database.ts'

/** Reports are read from these indexes alone; see docs/decisions/reports-from-indexes.md. */
export function reports(_engine: Engine): string[] {
  const widened = (name: string, columns: string) => [
    `DROP INDEX ${name}`,
    `CREATE INDEX ${name} ON ${columns}`,
  ]
  return [
    ...widened(
      'referrals_created_at',
      'referrals (created_at, id, status, type, affiliate_id, amount, campaign)',
    ),
    ...widened('referrals_affiliate_id', 'referrals (affiliate_id, id, status, type, amount, created_at)'),
    ...widened('visits_created_at', 'visits (created_at, id, affiliate_id, referral_id, campaign)'),
    ...widened('ledger_transfers_at', 'ledger_transfers (at, id, debit, credit, amount)'),
  ]
}

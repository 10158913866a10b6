/**
 * Referrals and the ledger. Existing payouts become transfers at their own dates, and their referrals stay what they
 * were: numbers of another system.
 */
import { sql } from 'kysely'
import type { Engine, Tx } from '../database.ts'
import { oneOf } from './one-of.ts'

/** A statement, or a function for what takes several. */
export type Step = string | ((tx: Tx) => Promise<void>)

/** Clients may have made up numbers from here on, so those do not advance the identifiers of new referrals. */
const MADE_UP_FROM = 1_000_000_000_000
/** Tables of which steps fill new ones. They are locked, so that a service of 0.1 that still runs adds no rows that the steps miss. */
const TABLES_OF_0_1 = [
  'users',
  'affiliates',
  'payouts',
  'payout_referrals',
  'audit_chain',
  'audit_entries',
  'audit_seals',
]
/** Limit of a balance, in minor units: below half of 64 bits. */
const MOST = '4000000000000000000'

export function earning(engine: Engine): Step[] {
  return [
    ...engine.lockTables(TABLES_OF_0_1),
    ...referrals(engine),
    ...ledger(engine),
    ...paidBefore(engine),
    ...numbersTaken(engine),
  ]
}

function referrals({ identity, integer, text, tableOptions }: Engine): Step[] {
  return [
    `CREATE TABLE referrals (
      id ${identity},
      affiliate_id ${integer} NOT NULL,
      visit_id ${integer} NOT NULL,
      rest_id ${text} NOT NULL,
      customer_id ${integer} NOT NULL,
      parent_id ${integer} NOT NULL,
      description ${text} NOT NULL,
      description_key ${text} NOT NULL,
      status ${text} NOT NULL ${oneOf('status', 'draft', 'pending', 'unpaid', 'paid', 'rejected')},
      amount ${integer} NOT NULL,
      currency ${text} NOT NULL,
      custom ${text} NOT NULL,
      context ${text} NOT NULL,
      campaign ${text} NOT NULL,
      reference ${text} NOT NULL,
      reference_key ${text} NOT NULL,
      products ${text} NOT NULL,
      created_at ${integer} NOT NULL,
      type ${text} NOT NULL ${oneOf('type', 'sale', 'lead', 'opt-in', 'refund', 'write_off')},
      payout_id ${integer} NOT NULL CHECK (payout_id = 0 OR status = 'paid'),
      run_item_id ${integer} NOT NULL CHECK (run_item_id = 0 OR status IN ('unpaid', 'paid')),
      order_total ${integer},
      hold_until ${integer},
      reason ${text} NOT NULL,
      unique_reference ${integer} NOT NULL CHECK (unique_reference IN (0, 1)),
      request_hash ${text} NOT NULL,
      updated_at ${integer} NOT NULL
    ) ${tableOptions}`,
    // The columns after the identifier let sums read the index alone.
    'CREATE INDEX referrals_affiliate_id ON referrals (affiliate_id, id, status, type, amount)',
    'CREATE INDEX referrals_status ON referrals (status, id)',
    'CREATE INDEX referrals_reference ON referrals (reference, id)',
    'CREATE INDEX referrals_created_at ON referrals (created_at, id, status, amount)',
    'CREATE INDEX referrals_updated_at ON referrals (updated_at, id)',
    'CREATE INDEX referrals_amount ON referrals (amount, id)',
    "CREATE INDEX referrals_campaign ON referrals (campaign, id) WHERE campaign <> ''",
    'CREATE INDEX referrals_parent_id ON referrals (parent_id, id) WHERE parent_id <> 0',
    'CREATE INDEX referrals_visit_id ON referrals (visit_id, id) WHERE visit_id <> 0',
    'CREATE INDEX referrals_customer_id ON referrals (customer_id, id) WHERE customer_id <> 0',
    'CREATE INDEX referrals_payout_id ON referrals (payout_id, id, amount) WHERE payout_id <> 0',
    "CREATE INDEX referrals_hold_until ON referrals (hold_until, id) WHERE status = 'pending' AND hold_until IS NOT NULL",
    `CREATE UNIQUE INDEX "referrals.reference" ON referrals (reference, context, affiliate_id, type) WHERE unique_reference = 1`,
  ]
}

function ledger({ identity, integer, text, tableOptions, appendOnly }: Engine): Step[] {
  const account = (name: string) =>
    `${text} NOT NULL ${oneOf(name, 'commission', 'pending', 'unpaid', 'reserved', 'paid_out', 'external', 'difference', 'written_off')}`
  const columns = {
    affiliate_id: `${integer} NOT NULL`,
    amount: `${integer} NOT NULL CHECK (amount > 0)`,
    debit: account('debit'),
    credit: account('credit'),
    reason: `${text} NOT NULL`,
    referral_id: integer,
    payout_id: integer,
    run_item_id: integer,
    event_id: integer,
    at: `${integer} NOT NULL`,
  }
  const declared = Object.entries(columns).map(([name, type]) => `${name} ${type}`)
  return [
    `CREATE TABLE ledger_transfers (id ${identity}, ${declared.join(', ')}, CHECK (debit <> credit)) ${tableOptions}`,
    // Balances at any time, and the running balance, are read from this index alone.
    'CREATE INDEX ledger_transfers_affiliate_id ON ledger_transfers (affiliate_id, id, at, debit, credit, amount)',
    'CREATE INDEX ledger_transfers_at ON ledger_transfers (at, id)',
    'CREATE INDEX ledger_transfers_referral_id ON ledger_transfers (referral_id, id) WHERE referral_id IS NOT NULL',
    'CREATE INDEX ledger_transfers_payout_id ON ledger_transfers (payout_id, id) WHERE payout_id IS NOT NULL',
    ...appendOnly('ledger_transfers', ['id', ...Object.keys(columns)]),
    // The limit keeps sums from overflowing, at the same value on every engine.
    `CREATE TABLE balances (
      affiliate_id ${integer} NOT NULL,
      account ${account('account')},
      amount ${integer} NOT NULL CHECK (amount BETWEEN -${MOST} AND ${MOST}),
      PRIMARY KEY (affiliate_id, account)
    ) ${tableOptions}`,
  ]
}

/** Existing payouts paid for earnings of another system, so nobody has earned or is owed anything here yet. */
function paidBefore({ integer }: Engine): Step[] {
  return [
    `ALTER TABLE payout_referrals ADD COLUMN known ${integer} NOT NULL DEFAULT 0 CHECK (known IN (0, 1))`,
    ...paidElsewhere(),
    `UPDATE affiliates SET earnings = 0, unpaid_earnings = 0, referrals = 0, visits = 0
      WHERE earnings <> 0 OR unpaid_earnings <> 0 OR referrals <> 0 OR visits <> 0`,
  ]
}

/**
 * Statements that fill an empty ledger with payouts for another system's referrals.
 * @param before only payouts with a lower identifier; all if omitted
 */
export function paidElsewhere(before?: number): string[] {
  const paid = `FROM payouts WHERE status = 'paid' AND amount > 0${before === undefined ? '' : ` AND id < ${before}`}`
  return [
    `INSERT INTO ledger_transfers (affiliate_id, amount, debit, credit, reason, payout_id, at)
      SELECT affiliate_id, amount, 'external', 'paid_out', 'payout.create', id, created_at ${paid} ORDER BY created_at, id`,
    `INSERT INTO balances (affiliate_id, account, amount)
      SELECT affiliate_id, 'paid_out', sum(amount) ${paid} GROUP BY affiliate_id
      UNION ALL SELECT affiliate_id, 'external', -sum(amount) ${paid} GROUP BY affiliate_id`,
  ]
}

/** No new referral gets a number that an existing payout names. */
function numbersTaken(engine: Engine): Step[] {
  return [
    async tx => {
      const { rows } = await sql<{ last: number | null }>`
        SELECT max(referral_id) AS last FROM payout_referrals WHERE referral_id < ${MADE_UP_FROM}`.execute(tx)
      await engine.continueIdentity(tx, 'referrals', rows[0]?.last ?? 0)
    },
  ]
}

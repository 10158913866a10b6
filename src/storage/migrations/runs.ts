import type { Engine } from '../database.ts'
import { oneOf } from './one-of.ts'

/** Payout runs, their items, and the payouts made from them. */
export function runs({ identity, integer, text, tableOptions }: Engine): string[] {
  return [
    `CREATE TABLE payout_runs (
      id ${identity},
      status ${text} NOT NULL ${oneOf('status', 'draft', 'approving', 'approved', 'sent', 'closed', 'cancelled')},
      method ${text} NOT NULL,
      cut_off ${integer},
      minimum ${integer} NOT NULL,
      note ${text} NOT NULL,
      payees ${integer} NOT NULL,
      amount ${integer} NOT NULL,
      excluded ${integer} NOT NULL,
      done ${integer} NOT NULL,
      hash ${text} NOT NULL,
      approval ${text} NOT NULL ${oneOf('approval', 'one', 'two')},
      created_at ${integer} NOT NULL,
      prepared_by ${integer} NOT NULL,
      approved_by ${integer} NOT NULL,
      approved_at ${integer},
      sent_at ${integer},
      closed_at ${integer},
      left_out ${text} NOT NULL,
      prepared_to ${integer} NOT NULL,
      digest ${text} NOT NULL,
      verified ${integer} NOT NULL,
      updated_at ${integer} NOT NULL
    ) ${tableOptions}`,
    // One run is approved at a time: the second must see which earnings the first has reserved.
    `CREATE UNIQUE INDEX "payout_runs.approving" ON payout_runs (status) WHERE status = 'approving'`,
    `CREATE TABLE run_items (
      id ${identity},
      run_id ${integer} NOT NULL REFERENCES payout_runs (id),
      affiliate_id ${integer} NOT NULL,
      status ${text} NOT NULL ${oneOf('status', 'included', 'excluded', 'reserved', 'paid', 'failed', 'returned', 'unknown')},
      reason ${text} NOT NULL,
      amount ${integer} NOT NULL,
      referrals ${integer} NOT NULL,
      reference ${text} NOT NULL,
      payee_name ${text} NOT NULL,
      payee_account ${text} NOT NULL,
      payout_id ${integer} NOT NULL,
      note ${text} NOT NULL,
      created_at ${integer} NOT NULL,
      settled_at ${integer},
      digest ${text} NOT NULL,
      details_id ${integer} NOT NULL,
      updated_at ${integer} NOT NULL
    ) ${tableOptions}`,
    `CREATE UNIQUE INDEX "run_items.affiliate" ON run_items (run_id, affiliate_id)`,
    'CREATE INDEX run_items_status ON run_items (run_id, status, id, amount)',
    'CREATE INDEX run_items_affiliate_id ON run_items (affiliate_id, id)',
    `CREATE INDEX run_items_reserved ON run_items (affiliate_id, amount) WHERE status IN ('reserved', 'unknown')`,
    `CREATE TABLE run_files (
      run_id ${integer} NOT NULL REFERENCES payout_runs (id),
      format ${text} NOT NULL,
      part ${integer} NOT NULL,
      downloaded_at ${integer} NOT NULL,
      handed_over_at ${integer},
      handed_over_by ${integer} NOT NULL,
      PRIMARY KEY (run_id, format, part)
    ) ${tableOptions}`,
    'CREATE INDEX referrals_run_item_id ON referrals (run_item_id, id, amount) WHERE run_item_id <> 0',
    `ALTER TABLE payouts ADD COLUMN run_item_id ${integer} NOT NULL DEFAULT 0`,
    'CREATE INDEX payouts_run_item_id ON payouts (run_item_id, id) WHERE run_item_id <> 0',
  ]
}

/** The group of affiliates that a run pays; 0 means all. */
export function runsOfGroups({ integer }: Engine): string[] {
  return [`ALTER TABLE payout_runs ADD COLUMN group_id ${integer} NOT NULL DEFAULT 0`]
}

/** The day on which a bank is asked to pay a run; null if none was chosen. */
export function executionDates({ integer }: Engine): string[] {
  return [`ALTER TABLE payout_runs ADD COLUMN execution_date ${integer}`]
}

/** References of runs at banks, and what was last recorded about their payments. */
export function runReferences({ text }: Engine): string[] {
  return [
    `ALTER TABLE payout_runs ADD COLUMN reference ${text} NOT NULL DEFAULT ''`,
    `ALTER TABLE payout_runs ADD COLUMN last_results ${text} NOT NULL DEFAULT ''`,
    // As in the files of existing runs.
    "UPDATE payout_runs SET reference = 'R' || id",
  ]
}

/** Reasons of a refused approval, and changes of payment addresses. */
export function refusedRuns({ integer, text, tableOptions }: Engine): string[] {
  return [
    `ALTER TABLE payout_runs ADD COLUMN refusal ${text} NOT NULL DEFAULT ''`,
    `CREATE TABLE payment_addresses (affiliate_id ${integer} PRIMARY KEY, changed_at ${integer} NOT NULL) ${tableOptions}`,
  ]
}

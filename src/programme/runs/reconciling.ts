/** Compares what a run has sent with the outcomes. */
import { CSV_BEGINNING, csvLine } from '../../base/csv.ts'
import { decimalText, exactNumber } from '../../base/money.ts'
import type { Context } from '../../events/write.ts'
import { existing } from '../../records/rules.ts'
import { unitsOfSum } from '../../storage/sums.ts'
import type { ItemStatus } from './item.ts'
import { payoutRun } from './run.ts'
import { SENT } from './sending.ts'
import * as store from './store.ts'
import { sumItems } from './sums-store.ts'

/** The parts of a reconciliation in the order in which people read them. */
const partNames = ['sent', 'paid', 'failed', 'returned', 'unknown', 'open'] as const

/** The statuses of their items. */
const parts = {
  sent: SENT,
  paid: ['paid'],
  failed: ['failed'],
  returned: ['returned'],
  unknown: ['unknown'],
  open: ['reserved', 'included'],
} as const satisfies Record<(typeof partNames)[number], readonly ItemStatus[]>

interface Sum {
  readonly count: number
  /** In minor units. */
  readonly sum: bigint
}

async function reconciliationOf({ database, settings }: Context, id: number) {
  existing(payoutRun, await store.runs.find(database.replica, id))
  const sums = await sumItems(database.replica, id)
  const sumOf = (statuses: readonly ItemStatus[]): Sum => {
    const chosen = sums.filter(({ status }) => statuses.includes(status))
    return {
      count: chosen.reduce((total, { count }) => total + count, 0),
      sum: chosen.reduce((total, { sum }) => total + unitsOfSum(sum), 0n),
    }
  }
  const { currency, decimals } = await settings.current()
  return {
    currency,
    decimals,
    parts: partNames.map(name => ({ name, ...sumOf(parts[name]) })),
    excluded: sums.filter(({ status }) => status === 'excluded'),
  }
}

/** @throws Failure no_payout_run */
export async function reconcile(context: Context, id: number) {
  const { currency, decimals, parts, excluded } = await reconciliationOf(context, id)
  const record = Object.fromEntries(
    parts.map(({ name, count, sum }) => [name, { count, sum: exactNumber(sum, decimals) }]),
  )
  return {
    payout_run_id: id,
    currency,
    ...record,
    excluded: excluded.map(({ reason, count }) => ({ reason, count })),
    balanced: parts.every(({ name, count }) => (name !== 'open' && name !== 'unknown') || count === 0),
  }
}

/**
 * The same as a table.
 * @throws Failure no_payout_run
 */
export async function reconciliationCsv(context: Context, id: number): Promise<string> {
  const { currency, decimals, parts, excluded } = await reconciliationOf(context, id)
  const lines = [
    ...parts.map(({ name, count, sum }) => [name, '', count, decimalText(sum, decimals)]),
    ...excluded.map(({ reason, count, sum }) => [
      'excluded',
      reason,
      count,
      decimalText(unitsOfSum(sum), decimals),
    ]),
  ]
  const head = csvLine(['payout_run_id', 'part', 'reason', 'count', 'sum', 'currency'])
  return CSV_BEGINNING + head + lines.map(line => csvLine([id, ...line, currency])).join('')
}

import { formatRate } from '../../base/money.ts'
import { formatOptionalTime, formatTime } from '../../base/time.ts'
import { feature, type SheetColumns, sheetOf } from '../../records/feature.ts'
import { listing, rules as resource } from './routes.ts'
import { type RuleRow, rule } from './rule.ts'
import { salesMonthsTable } from './sales-table.ts'
import { versionBefore } from './store.ts'

const columns: SheetColumns<RuleRow> = {
  rule_id: row => row.id,
  series: row => row.series,
  version: row => row.version,
  status: row => row.status,
  name: row => row.name,
  affiliate_id: row => row.affiliate_id ?? '',
  group_id: row => row.group_id ?? '',
  priority: row => row.priority,
  kinds: row => row.kinds,
  conditions: row => (row.conditions === '[]' ? '' : row.conditions),
  rate_type: row => row.rate_type,
  rate: row => formatRate(row.rate),
  currency: (_row, { currency }) => currency,
  base: row => row.base,
  max_months: row => row.max_months ?? '',
  max_payments: row => row.max_payments ?? '',
  hold_days: row => row.hold_days ?? '',
  from: row => formatOptionalTime(row.valid_from),
  until: row => formatOptionalTime(row.valid_until),
  date: row => formatTime(row.created_at),
}

export const commissionRules = feature(rule, {
  tables: [rule.table, salesMonthsTable],
  resource,
  listing,
  sheet: sheetOf(columns),
  // The event of a new version shows by its `before` that it has replaced another.
  unlogged: ({ status }) => (status === 'current' ? [] : ['status']),
  ended: ({ status }) => status === 'ended',
  precursor: versionBefore,
})

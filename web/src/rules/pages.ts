import Icon from '@mui/icons-material/PercentOutlined'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'
import { bases, conditionText, kindsText, nameOf, type Rule, rateTypes, rowsOf, terms } from './rule.ts'

export const rules: RecordPages = {
  resource: 'rules',
  kind: 'rule',
  name: ['Rule', 'Commission rules'],
  section: 'Programme',
  icon: Icon,
  list: lazily(() => import('./RuleList.tsx'), 'RuleList'),
  create: lazily(() => import('./RuleForms.tsx'), 'RuleCreate'),
  edit: lazily(() => import('./RuleForms.tsx'), 'RuleEdit'),
  titleOf: nameOf,
  // What a sale earns.
  together: ['name', 'rate', 'priority', ...Object.keys(terms)],
  words: ({ conditions = [], kinds = [], rate_type, base }: Rule, money) => ({
    conditions: rowsOf(conditions)
      .map(row => conditionText(row, money))
      .join('; '),
    kinds: kindsText(kinds),
    rate_type: rateTypes[rate_type],
    base: bases[base],
  }),
  replacing: ({ series, status }: Rule, { status: statusBefore }: Partial<Rule>) =>
    status === 'replaced' && statusBefore === 'current' ? { series, status: 'current' } : undefined,
  adds: ({ conditions, affiliate_id, group_id }: Rule) => ({
    condition_rows: rowsOf(conditions),
    affiliate_id: affiliate_id || null,
    group_id: group_id || null,
  }),
  actions: { edit: 'Rule changed', delete: 'Rule ended' },
}

import Icon from '@mui/icons-material/PercentOutlined'
import { lazily } from '../ui/lazily.ts'
import type { RecordPages } from '../ui/pages.ts'
import { nameOf, type Rule, rowsOf } from './rule.ts'

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
  adds: ({ conditions, affiliate_id, group_id }: Rule) => ({
    condition_rows: rowsOf(conditions),
    affiliate_id: affiliate_id || null,
    group_id: group_id || null,
  }),
  actions: { edit: 'Rule changed', delete: 'Rule ended' },
}

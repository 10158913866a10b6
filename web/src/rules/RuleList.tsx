import { Typography } from '@mui/material'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { GroupName } from '../groups/GroupName.tsx'
import { useSession } from '../session.tsx'
import type { Column } from '../ui/column.ts'
import { ChoiceFilter } from '../ui/filters.tsx'
import { type Money, plural, rateText, useMoney } from '../ui/format.ts'
import { RecordList } from '../ui/RecordList.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { RowLink } from '../ui/table.tsx'
import { rules } from './pages.ts'
import { conditionText, kindsText, type Rule, rowsOf, statuses } from './rule.ts'

export function RuleList() {
  return (
    <RecordList<Rule>
      of={rules}
      columns={columnsOf(useMoney())}
      sort={{ field: 'tried', order: 'ASC' }}
      search="Name or number"
      above={<Order />}
      filter={{ status: 'current' }}
      filters={<ChoiceFilter source="status" label="Status" choices={statuses} />}
      empty="A rule sets what affiliates earn, and for which sales. Without rules, everybody earns the default rate."
      createLabel="Create rule"
    />
  )
}

/** Explains the order in which rules apply. */
function Order() {
  const { settings } = useSession()
  const money = useMoney()
  const { default_rate, default_rate_type } = settings
  const last = rateText({ rate: String(default_rate), rate_type: default_rate_type }, money)
  return (
    <Typography variant="body2" sx={{ color: 'text.secondary', mb: 2, maxWidth: 860 }}>
      Rules are tried from the top, and the first that applies decides. An amount that is sent with a referral
      and an affiliate’s own rate come before all of them; the default of {last} comes last.
    </Typography>
  )
}

const columnsOf = (money: Money): Column<Rule>[] => [
  {
    label: 'Rule',
    sort: 'tried',
    cell: ({ id, name }) => (
      <RowLink to={`/rules/${id}`}>
        <bdi>{name}</bdi>
      </RowLink>
    ),
    minWidth: 130,
    card: '1 left',
  },
  { label: 'For', cell: rule => <Whose rule={rule} />, minWidth: 110, card: '2 left' },
  { label: 'Pays', sort: 'rate_by_type', cell: rule => rateText(rule, money), card: '1 right' },
  { label: 'When', cell: rule => <When rule={rule} />, minWidth: 180, card: '3 left' },
  { label: 'Priority', sort: 'priority', cell: ({ priority }) => priority, figures: true, wideOnly: true },
  { label: 'Version', cell: ({ version }) => version, wideOnly: true },
  { label: 'Status', sort: 'status', cell: ({ status }) => <StatusChip status={status} />, card: '2 right' },
]

function Whose({ rule: { affiliate_id, group_id } }: { rule: Rule }) {
  if (affiliate_id) return <AffiliateName id={affiliate_id} link />
  return group_id ? <GroupName id={group_id} /> : <>Everybody</>
}

function When({ rule }: { rule: Rule }) {
  const { full } = useMoney()
  const { conditions, kinds, from, until, hold_days, max_months, max_payments } = rule
  const lines = [
    kindsText(kinds),
    ...rowsOf(conditions).map(row => conditionText(row, full)),
    from && `From ${from.slice(0, 10)}`,
    until && `Until ${until.slice(0, 10)}`,
    max_months !== '' && `For ${plural(max_months, 'month')} from the first order`,
    max_payments !== '' && `Up to order ${max_payments} of a customer`,
    hold_days !== '' && hold_days > 0 && `Pending for ${hold_days} days`,
  ].filter(Boolean)
  return (
    <>
      {lines.length === 0 && 'Always'}
      {lines.map(line => (
        <Typography key={String(line)} component="div" variant="body2">
          {line}
        </Typography>
      ))}
    </>
  )
}

import { runStatuses } from '../../../src/programme/runs/words.ts'
import type { Column } from '../ui/column.ts'
import { Day } from '../ui/Day.tsx'
import { ChoiceFilter, DateFilter } from '../ui/filters.tsx'
import { count, type Money, useMoney } from '../ui/format.ts'
import { RecordLink } from '../ui/RecordLink.tsx'
import { RecordList } from '../ui/RecordList.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { payoutRuns } from './pages.ts'
import { methodName, methods, type Run } from './run.ts'

export function RunList() {
  return (
    <RecordList<Run>
      of={payoutRuns}
      columns={columnsOf(useMoney())}
      search="Number"
      filters={
        <>
          <ChoiceFilter source="status" label="Status" choices={runStatuses} />
          <ChoiceFilter source="method" label="Method" choices={methods.map(({ id }) => id)} />
          <DateFilter />
        </>
      }
      empty="A payout run pays many affiliates together: prepare it, review the payees, approve it, and send the file to your bank or to PayPal."
      createLabel="Prepare payout run"
    />
  )
}

const columnsOf = (money: Money): Column<Run>[] => [
  {
    label: 'Run',
    sort: 'id',
    cell: ({ id }) => <RecordLink kind="payout_run" id={id} />,
    card: '1 left',
  },
  { label: 'Prepared', sort: 'date', cell: ({ date }) => <Day text={date} />, card: '2 left' },
  { label: 'Method', sort: 'method', cell: ({ method }) => methodName(method), wideOnly: true },
  { label: 'Note', cell: ({ note }) => <bdi>{note || '–'}</bdi>, maxWidth: 240, wideOnly: true },
  {
    label: 'Status',
    sort: 'status',
    cell: ({ status }) => <StatusChip status={status} />,
    card: '2 right',
  },
  { label: 'Payees', sort: 'payees', cell: ({ payees }) => count(payees), figures: true },
  {
    label: 'Amount',
    sort: 'amount',
    cell: ({ amount }) => <strong>{money.full(amount)}</strong>,
    figures: true,
    card: '1 right',
  },
]

import type { Column } from '../ui/column.ts'
import { DateFilter, TextFilter } from '../ui/filters.tsx'
import { time } from '../ui/format.ts'
import { figure } from '../ui/numbers.ts'
import { RecordList } from '../ui/RecordList.tsx'
import { RowLink } from '../ui/table.tsx'
import { type ExchangeRate, nameOf } from './exchange-rate.ts'
import { exchangeRates } from './pages.ts'

export function ExchangeRateList() {
  return (
    <RecordList<ExchangeRate>
      of={exchangeRates}
      columns={columns}
      sort={{ field: 'date', order: 'DESC' }}
      search="Number"
      filters={
        <>
          <TextFilter source="from_currency" label="Currency" />
          <DateFilter label="Valid" />
        </>
      }
      empty="An exchange rate is the value of a currency from a given day on. Sales in another currency stay drafts until there is a rate for their date."
      createLabel="Enter rate"
    />
  )
}

const columns: Column<ExchangeRate>[] = [
  {
    label: 'Currencies',
    sort: 'from_currency',
    cell: rate => <RowLink to={`/exchange-rates/${rate.id}`}>{nameOf(rate)}</RowLink>,
    minWidth: 120,
    card: '1 left',
  },
  {
    label: 'Rate',
    cell: ({ from_currency, rate, to_currency }) => `1 ${from_currency} = ${figure(rate)} ${to_currency}`,
    minWidth: 160,
    card: '2 left',
  },
  {
    label: 'Valid from',
    sort: 'date',
    cell: ({ date }) => time(date),
    figures: true,
    card: '1 right',
  },
]

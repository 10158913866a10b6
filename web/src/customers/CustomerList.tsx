import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { numberedName } from '../affiliates/affiliate.tsx'
import type { Column } from '../ui/column.ts'
import { Day } from '../ui/Day.tsx'
import { DateFilter } from '../ui/filters.tsx'
import { RecordList } from '../ui/RecordList.tsx'
import { Breakable, RowLink } from '../ui/table.tsx'
import { type Customer, nameOf } from './customer.ts'
import { customers } from './pages.ts'

export function CustomerList() {
  return (
    <RecordList<Customer>
      of={customers}
      columns={columns}
      search="Name, e-mail or number"
      filters={
        <>
          <AffiliateInput nameOf={numberedName} helperText={false} sx={{ width: { sm: 220 } }} />
          <DateFilter source="date_created" label="First seen" />
        </>
      }
      empty="A customer is someone who bought through an affiliate. Your shop reports them with its sales."
      createLabel="Create customer"
    />
  )
}

const columns: Column<Customer>[] = [
  {
    label: 'Name',
    sort: 'last_name',
    cell: customer => (
      <RowLink to={`/customers/${customer.id}/show`}>
        <bdi>{nameOf(customer)}</bdi>
      </RowLink>
    ),
    minWidth: 110,
    card: '1 left',
  },
  {
    label: 'E-mail',
    sort: 'email',
    cell: ({ email }) => <Breakable text={email || '–'} />,
    minWidth: 160,
    card: '2 left',
  },
  {
    label: 'Affiliate',
    cell: ({ affiliate_id }) => (affiliate_id ? <AffiliateName id={affiliate_id} link /> : '–'),
    wideOnly: true,
  },
  {
    label: 'Account',
    sort: 'user_id',
    cell: ({ user_id }) => (user_id ? <RowLink to={`/users/${user_id}`}>#{user_id}</RowLink> : '–'),
    wideOnly: true,
  },
  {
    label: 'First seen',
    sort: 'date_created',
    cell: ({ date_created }) => <Day text={date_created} />,
    figures: true,
    card: '1 right',
  },
]

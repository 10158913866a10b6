import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import type { Column } from '../ui/column.ts'
import { Day } from '../ui/Day.tsx'
import { ChoiceFilter, DateFilter } from '../ui/filters.tsx'
import { RecordList } from '../ui/RecordList.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { Breakable, RowLink } from '../ui/table.tsx'
import { type Coupon, nameOf, statuses } from './coupon.ts'
import { coupons } from './pages.ts'

export function CouponList() {
  return (
    <RecordList<Coupon>
      of={coupons}
      columns={columns}
      search="Code, campaign or number"
      filters={
        <>
          <ChoiceFilter source="status" label="Status" choices={statuses} />
          <DateFilter label="Created" />
        </>
      }
      empty="A coupon is a code that customers enter in the shop. Its affiliate is credited without a click."
      createLabel="Create coupon"
    />
  )
}

const columns: Column<Coupon>[] = [
  {
    label: 'Code',
    sort: 'code',
    cell: coupon => (
      <RowLink to={`/coupons/${coupon.id}`}>
        <bdi>{nameOf(coupon)}</bdi>
      </RowLink>
    ),
    minWidth: 110,
    card: '1 left',
  },
  {
    label: 'Affiliate',
    sort: 'affiliate_name',
    cell: ({ affiliate_id }) => <AffiliateName id={affiliate_id} />,
    minWidth: 120,
    card: '2 left',
  },
  { label: 'Campaign', cell: ({ campaign }) => <Breakable text={campaign || '–'} />, wideOnly: true },
  { label: 'Status', sort: 'status', cell: ({ status }) => <StatusChip status={status} />, card: '1 right' },
  { label: 'Created', sort: 'date', cell: ({ date }) => <Day text={date} />, figures: true, card: '2 right' },
]

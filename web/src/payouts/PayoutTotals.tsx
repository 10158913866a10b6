import { useQuery } from '@tanstack/react-query'
import { useListContext } from 'react-admin'
import { get, queryOf } from '../api.ts'
import { count, plural, useMoney } from '../ui/format.ts'
import { Tile, Tiles } from '../ui/Tile.tsx'
import type { PayoutTotals as Totals } from './payout.ts'

/** Count and sum of all records that match the filters, over all pages; computed by the database. */
export function PayoutTotals() {
  const { filterValues, error } = useListContext()
  const money = useMoney()
  const query = queryOf(filterValues)
  const { data, isPlaceholderData } = useQuery({
    queryKey: ['payouts', 'totals', query],
    queryFn: () => get<Totals>(`payouts/totals?${query}`),
    placeholderData: before => before,
  })
  if (error) return null
  const narrowed = query !== ''
  return (
    <Tiles minWidth={170} busy={isPlaceholderData}>
      <Tile
        label={narrowed ? 'Payouts that match' : 'Payouts'}
        value={data ? count(data.count) : '…'}
        hint={data && `${money.full(data.sum)} in all`}
      />
      <Tile
        label="Paid"
        value={data ? money.full(data.paid.sum) : '…'}
        hint={data && plural(data.paid.count, 'payout')}
      />
      <Tile
        label="Failed"
        value={data ? money.full(data.failed.sum) : '…'}
        hint={data && plural(data.failed.count, 'payout')}
      />
    </Tiles>
  )
}

import { TableCell, TableRow } from '@mui/material'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { amountText } from '../conversions/amounts.ts'
import type { Conversion } from '../conversions/conversion.ts'
import { Day } from '../ui/Day.tsx'
import { Latest, LatestTable, wideOnly } from '../ui/Latest.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'
import { figures } from '../ui/table.tsx'
import { capital } from '../ui/words.ts'

/** The latest conversions of a customer: what they bought, and what was refunded. */
export function Orders({ customerId }: { customerId: number }) {
  return (
    <Latest<Conversion>
      title="Orders"
      resource="conversions"
      of={{ customer_id: customerId }}
      none="No conversion names this customer."
      rows={conversions => <OrderRows conversions={conversions} />}
    />
  )
}

const head = (
  <>
    <TableCell>Conversion</TableCell>
    <TableCell>Date</TableCell>
    <TableCell>Kind</TableCell>
    <TableCell sx={wideOnly}>Reference</TableCell>
    <TableCell sx={wideOnly}>Credited to</TableCell>
    <TableCell sx={figures}>Amount</TableCell>
  </>
)

function OrderRows({ conversions }: { conversions: Conversion[] }) {
  return (
    <LatestTable label="Latest orders" head={head}>
      {conversions.map(one => (
        <TableRow key={one.id} hover>
          <TableCell>
            <RecordLink kind="conversion" id={one.id} />
          </TableCell>
          <TableCell>
            <Day text={one.occurred_at} />
          </TableCell>
          <TableCell>{capital(one.kind)}</TableCell>
          <TableCell sx={{ ...wideOnly, overflowWrap: 'anywhere' }}>
            <bdi>{one.reference}</bdi>
          </TableCell>
          <TableCell sx={wideOnly}>
            {one.affiliate_id === 0 ? '–' : <AffiliateName id={one.affiliate_id} link />}
          </TableCell>
          <TableCell sx={figures}>{amountText(one)}</TableCell>
        </TableRow>
      ))}
    </LatestTable>
  )
}

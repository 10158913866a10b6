/** Balances of an affiliate, each with an explanation and a link to its records. */
import {
  Box,
  Card,
  Link,
  Stack,
  Table,
  TableBody,
  TableCell,
  TableHead,
  TableRow,
  Typography,
} from '@mui/material'
import { type ReactNode, useState } from 'react'
import { Link as RouterLink } from 'react-router-dom'
import type { Account } from '../../../src/programme/ledger/holdings.ts'
import { queryOf } from '../api.ts'
import { DayField } from '../ui/DayField.tsx'
import { useMoney } from '../ui/format.ts'
import { Problem } from '../ui/Page.tsx'
import { figures } from '../ui/table.tsx'
import { type BalancesRecord, useBalances } from './owed.ts'

const listOf = (resource: string, filter: object) =>
  `/${resource}?filter=${encodeURIComponent(JSON.stringify(filter))}`

interface Line {
  account: Account
  name: string
  why: string
  /** Link to the records that make up the figure. */
  of?: (affiliate_id: number) => string
  /** Hidden when it is 0. */
  rare?: true
}

const lines: Line[] = [
  {
    account: 'pending',
    name: 'Pending',
    why: 'Earned, waiting for approval.',
    of: affiliate_id => listOf('referrals', { affiliate_id, status: 'pending' }),
  },
  {
    account: 'unpaid',
    name: 'Unpaid',
    why: 'Approved and payable: the sum of the unpaid referrals that no payout run has reserved.',
    of: affiliate_id => listOf('referrals', { affiliate_id, status: 'unpaid', in_run: 'no' }),
  },
  {
    account: 'reserved',
    name: 'Reserved',
    why: 'Unpaid referrals in an approved payout run.',
    of: affiliate_id => listOf('referrals', { affiliate_id, status: 'unpaid', in_run: 'yes' }),
    rare: true,
  },
  {
    account: 'paid_out',
    name: 'Paid out',
    why: 'The sum of the paid payouts.',
    of: affiliate_id => listOf('payouts', { affiliate_id, status: 'paid' }),
  },
  {
    account: 'external',
    name: 'External',
    why: 'Referrals marked as paid by hand, less payouts that name no referral of this service.',
    rare: true,
  },
  {
    account: 'difference',
    name: 'Difference',
    why: 'Amount by which payouts fall short of their referrals; below 0, they exceed them.',
    rare: true,
  },
  {
    account: 'written_off',
    name: 'Written off',
    why: 'Reductions by write-offs; below 0, increases.',
    of: affiliate_id => listOf('referrals', { affiliate_id, type: 'write_off' }),
    rare: true,
  },
]

export function Balances({ affiliateId, actions }: { affiliateId: number; actions?: ReactNode }) {
  const [day, setDay] = useState('')
  const query = queryOf({ as_of: day })
  const { data, error, isPlaceholderData } = useBalances(affiliateId, query)
  return (
    <Card component="section" aria-label="Balances" sx={{ mb: 2 }}>
      <Stack
        direction="row"
        sx={{
          p: 2,
          pb: 1.5,
          justifyContent: 'space-between',
          flexWrap: 'wrap',
          gap: 1,
          alignItems: 'center',
        }}
      >
        <Typography variant="h2">Balances</Typography>
        <Stack direction="row" sx={{ gap: 1, flexWrap: 'wrap', alignItems: 'center' }}>
          <DayField label="At the end of" value={day} onChange={setDay} />
          {actions}
        </Stack>
      </Stack>
      {error && <Problem error={error} />}
      {data && (
        <Box aria-busy={isPlaceholderData}>
          <Lines balances={data} affiliateId={affiliateId} linked={day === ''} />
        </Box>
      )}
    </Card>
  )
}

function Lines({
  balances,
  affiliateId,
  linked,
}: {
  balances: BalancesRecord
  affiliateId: number
  /** Links are only shown for current figures: lists show the present, not a past day. */
  linked: boolean
}) {
  const money = useMoney()
  return (
    <Table size="small" aria-label="Balances" sx={{ '& tbody tr:last-of-type td': { borderBottom: 0 } }}>
      <TableHead>
        <TableRow>
          <TableCell>Account</TableCell>
          <TableCell sx={{ display: { xs: 'none', sm: 'table-cell' } }}>What it is</TableCell>
          <TableCell sx={figures}>Balance</TableCell>
        </TableRow>
      </TableHead>
      <TableBody>
        {lines
          .filter(({ account, rare }) => !rare || Number(balances[account]) !== 0)
          .map(({ account, name, why, of }) => (
            <TableRow key={account}>
              <TableCell>
                {of && linked ? (
                  <Link component={RouterLink} to={of(affiliateId)}>
                    {name}
                  </Link>
                ) : (
                  name
                )}
                <Typography
                  variant="caption"
                  sx={{ display: { xs: 'block', sm: 'none' }, color: 'text.secondary' }}
                >
                  {why}
                </Typography>
              </TableCell>
              <TableCell sx={{ display: { xs: 'none', sm: 'table-cell' }, color: 'text.secondary' }}>
                {why}
              </TableCell>
              <TableCell sx={figures}>{money.full(balances[account])}</TableCell>
            </TableRow>
          ))}
      </TableBody>
    </Table>
  )
}

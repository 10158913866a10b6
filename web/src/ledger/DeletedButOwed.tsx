import {
  Button,
  Card,
  Stack,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow,
  Typography,
} from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { Link } from 'react-router-dom'
import type { Static } from 'typebox'
import type { deletedButOwedRecord } from '../../../src/programme/ledger/schema.ts'
import { deletedName } from '../affiliates/affiliate.tsx'
import { affiliates } from '../affiliates/pages.ts'
import { get } from '../api.ts'
import { Allowed } from '../ui/Allowed.tsx'
import { useMoney } from '../ui/format.ts'
import { Empty, Page, Problem } from '../ui/Page.tsx'
import { parentOf } from '../ui/RecordForms.tsx'
import { Breakable, figures, RowLink } from '../ui/table.tsx'
import { Waiting } from '../ui/Waiting.tsx'

type DeletedAffiliates = Static<typeof deletedButOwedRecord>

export const useDeletedButOwed = () =>
  useQuery({
    queryKey: ['affiliates', 'deleted'],
    queryFn: () => get<DeletedAffiliates[]>('affiliates/deleted-but-owed'),
  })

/** Deleted affiliates with a balance: no other list shows them. */
export function DeletedButOwed() {
  const { data, error, refetch } = useDeletedButOwed()
  return (
    <Page title="Deleted affiliates who are owed" parent={parentOf(affiliates)} narrow>
      <Typography sx={{ color: 'text.secondary', mb: 2 }}>
        Deleting an affiliate does not cancel what is owed. Pay the balance or write it off.
      </Typography>
      {error && <Problem error={error} retry={() => refetch()} />}
      {!data && !error && <Waiting />}
      {data && (
        <Card>
          {data.length === 0 ? (
            <Empty title="Nobody is owed">No deleted affiliate has an open balance.</Empty>
          ) : (
            <OwedRows rows={data} />
          )}
        </Card>
      )}
    </Page>
  )
}

/** Hidden on narrow screens, to make room for the buttons. */
const wide = { display: { xs: 'none', sm: 'table-cell' } }

function OwedRows({ rows }: { rows: DeletedAffiliates[] }) {
  const money = useMoney()
  return (
    <TableContainer tabIndex={0} role="region" aria-label="Deleted affiliates who are owed">
      <Table size="small" sx={{ '& tbody tr:last-of-type td': { borderBottom: 0 } }}>
        <TableHead>
          <TableRow>
            <TableCell>Affiliate</TableCell>
            <TableCell sx={figures}>Owed</TableCell>
            <TableCell sx={{ ...figures, ...wide }}>Pending</TableCell>
            <TableCell sx={figures}>Action</TableCell>
          </TableRow>
        </TableHead>
        <TableBody>
          {rows.map(({ affiliate_id, name, payment_email, owed, pending }) => (
            <TableRow key={affiliate_id}>
              <TableCell>
                <RowLink to={`/affiliates/${affiliate_id}/ledger`}>
                  <bdi>{name ? `${name} #${affiliate_id}` : deletedName(affiliate_id)}</bdi>
                </RowLink>
                <Typography component="div" variant="caption" sx={{ color: 'text.secondary' }}>
                  <Breakable text={payment_email} />
                </Typography>
              </TableCell>
              <TableCell sx={figures}>{money.full(owed)}</TableCell>
              <TableCell sx={{ ...figures, ...wide }}>{money.full(pending)}</TableCell>
              <TableCell>
                <Stack direction={{ xs: 'column', sm: 'row' }} sx={{ justifyContent: 'flex-end' }}>
                  <Allowed to="referrals.create">
                    <Button
                      component={Link}
                      size="small"
                      to={`/referrals/create?type=write_off&affiliate_id=${affiliate_id}`}
                      aria-label={`Write off: affiliate ${affiliate_id}`}
                    >
                      Write off
                    </Button>
                  </Allowed>
                  <Allowed to="payouts.create">
                    <Button
                      component={Link}
                      size="small"
                      to={`/payouts/create?affiliate_id=${affiliate_id}`}
                      aria-label={`Record payout: affiliate ${affiliate_id}`}
                    >
                      Record payout
                    </Button>
                  </Allowed>
                </Stack>
              </TableCell>
            </TableRow>
          ))}
        </TableBody>
      </Table>
    </TableContainer>
  )
}

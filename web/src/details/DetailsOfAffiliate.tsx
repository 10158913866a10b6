import { Button, Card, Stack, Typography } from '@mui/material'
import { useGetList } from 'react-admin'
import { Link } from 'react-router-dom'
import { reachable } from '../../../src/accounts/users/erased.ts'
import type { Affiliate } from '../affiliates/affiliate.tsx'
import { Allowed } from '../ui/Allowed.tsx'
import { time } from '../ui/format.ts'
import { Problem } from '../ui/Page.tsx'
import { type Detail, detailMethods } from './detail.ts'

const nameOf = (method: string) => detailMethods.find(({ id }) => id === method)?.name ?? method

/** Payment details of an affiliate, masked as the server masks them. */
export function DetailsOfAffiliate({ affiliate }: { affiliate: Affiliate }) {
  const { id: affiliateId } = affiliate
  const { data, error } = useGetList<Detail>('payment-details', {
    filter: { affiliate_id: affiliateId, status: 'current' },
    pagination: { page: 1, perPage: 10 },
    sort: { field: 'id', order: 'ASC' },
  })
  const filter = encodeURIComponent(JSON.stringify({ affiliate_id: affiliateId }))
  return (
    <Card component="section" aria-label="Payment details" sx={{ p: 2, mb: 2 }}>
      <Stack direction="row" sx={{ justifyContent: 'space-between', flexWrap: 'wrap', gap: 1 }}>
        <Typography variant="h2">Payment details</Typography>
        <Stack direction="row" sx={{ gap: 1 }}>
          <Button component={Link} to={`/payment-details?filter=${filter}`}>
            History
          </Button>
          <Allowed to="payment-details.create">
            <Button
              component={Link}
              variant="outlined"
              to={`/payment-details/create?affiliate_id=${affiliateId}`}
            >
              Enter
            </Button>
          </Allowed>
        </Stack>
      </Stack>
      {error && <Problem error={error} />}
      {data?.length === 0 && (
        <Typography variant="body2" sx={{ color: 'text.secondary' }}>
          {paidWithout(affiliate)}
        </Typography>
      )}
      {data?.map(detail => (
        <Typography key={detail.id} variant="body2">
          {nameOf(detail.method)}: <Account detail={detail} />
        </Typography>
      ))}
    </Card>
  )
}

/** Which payout runs pay an affiliate for whom no details were entered. */
function paidWithout({ payment_email, user }: Affiliate): string {
  if (payment_email !== '') {
    return 'None were entered. Runs by PayPal and by plain CSV pay to the payment e-mail, others do not pay this affiliate.'
  }
  return reachable(user?.user_email ?? '') === ''
    ? 'None were entered, and there is no e-mail address: no run pays this affiliate.'
    : 'None were entered, and no payment e-mail of their own: only runs by plain CSV pay this affiliate.'
}

/** The account, masked; of a person who was erased nothing is left of it. */
function Account({ detail: { account, holder, usable_from } }: { detail: Detail }) {
  if (!account) return <>erased</>
  return (
    <>
      <bdi>{account}</bdi>
      {holder && (
        <>
          , <bdi>{holder}</bdi>
        </>
      )}
      , used from {time(usable_from)} on
    </>
  )
}

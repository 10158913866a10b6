import EditIcon from '@mui/icons-material/EditOutlined'
import { Button, Typography } from '@mui/material'
import { Link } from 'react-router-dom'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { CustomerName } from '../customers/CustomerName.tsx'
import { Transfers } from '../ledger/Transfers.tsx'
import { Allowed } from '../ui/Allowed.tsx'
import { Details, LongText } from '../ui/Details.tsx'
import { time, useMoney } from '../ui/format.ts'
import { Moves } from '../ui/moves.tsx'
import { DeleteRecord } from '../ui/RecordForms.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'
import { RecordShow } from '../ui/RecordShow.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { capital } from '../ui/words.ts'
import { referrals } from './pages.ts'
import { moving, nameOf, type Referral } from './referral.ts'
import { useExplanation, Why } from './Why.tsx'

export function ReferralShow() {
  return (
    <RecordShow<Referral>
      of={referrals}
      nameOf={nameOf}
      aside={({ status }) => <StatusChip status={status} />}
      actions={referral => <Actions referral={referral} />}
    >
      {referral => (
        <>
          <ReferralDetails referral={referral} />
          <Why referral={referral} />
          <Transfers
            title="In the ledger"
            affiliateId={referral.affiliate_id}
            about={{ referral_id: referral.id }}
            empty="It moves no money: its status is draft or rejected, or its amount is 0."
          />
        </>
      )}
    </RecordShow>
  )
}

/** What a payout run has reserved stays as it is until the run has an outcome; what a payout has paid stays paid by it. */
function Actions({ referral }: { referral: Referral }) {
  const { data } = useExplanation(referral.id)
  if (data && data.payout_run_id > 0) return null
  const isPaidByPayout = referral.payout_id !== '0'
  return (
    <>
      {!isPaidByPayout && <Moves moving={moving} record={referral} />}
      <Allowed to="referrals.edit">
        <Button component={Link} to={`/referrals/${referral.id}`} startIcon={<EditIcon />}>
          Edit
        </Button>
      </Allowed>
      {!isPaidByPayout && (
        <DeleteRecord of={referrals} record={referral}>
          <Typography>
            The referral is deleted for good, along with the amount owed for it. Its number is never reused.
          </Typography>
          <Typography sx={{ mt: 1 }}>
            What stays: the ledger, which tells that it was there. To owe nothing for it and keep it in the
            list, reject it.
          </Typography>
        </DeleteRecord>
      )}
    </>
  )
}

function ReferralDetails({ referral }: { referral: Referral }) {
  const money = useMoney()
  const { custom } = referral
  const run = useExplanation(referral.id).data?.payout_run_id ?? 0
  return (
    <Details
      items={[
        ['Amount', <strong key="amount">{money.full(referral.amount)}</strong>],
        ['Affiliate', <AffiliateName key="affiliate" id={referral.affiliate_id} link />],
        ['Type', capital(referral.type)],
        ['Date', time(referral.date)],
        ['Description', referral.description && <LongText key="description" text={referral.description} />],
        ['Reference', <bdi key="reference">{referral.reference || '–'}</bdi>],
        ['Context', referral.context && <bdi key="context">{referral.context}</bdi>],
        ['Campaign', referral.campaign && <bdi key="campaign">{referral.campaign}</bdi>],
        ['Reserved by', run > 0 && <ReservedBy key="run" run={run} />],
        ['Paid by payout', <RecordLink key="payout" kind="payout" id={referral.payout_id} />],
        ['Visit', <RecordLink key="visit" kind="visit" id={referral.visit_id} />],
        ['Customer', <CustomerName key="customer" id={Number(referral.customer_id)} />],
        [
          'Takes back',
          referral.parent_id ? <RecordLink key="p" kind="referral" id={referral.parent_id} /> : '',
        ],
        ['Custom', custom ? <LongText key="custom" text={textOf(custom)} /> : ''],
      ]}
    />
  )
}

function ReservedBy({ run }: { run: number }) {
  return (
    <>
      Payout run <RecordLink kind="payout_run" id={run} />. Until that has an outcome, the referral stays as
      it is: to take it back, record a refund, or cancel the run.
    </>
  )
}

const textOf = (custom: unknown) => (typeof custom === 'string' ? custom : JSON.stringify(custom, null, 2))

import { Box, Typography } from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { useRecordContext } from 'react-admin'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { get, queryOf } from '../api.ts'
import { type Item, methodName } from '../runs/run.ts'
import { useCan } from '../session.tsx'
import { History } from '../tools/AuditLog.tsx'
import { Details } from '../ui/Details.tsx'
import { ChoiceInput, FormSection, UnsavedChanges } from '../ui/form.tsx'
import { time, useMoney } from '../ui/format.ts'
import { DeleteRecord, RecordEdit } from '../ui/RecordForms.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { capital } from '../ui/words.ts'
import { UserName } from '../users/UserName.tsx'
import { MarkPaid } from './MarkPaid.tsx'
import { argumentsOf, Fields, OfThePayment } from './PayoutForms.tsx'
import { payouts } from './pages.ts'
import { type Payout, statusChoices } from './payout.ts'
import { numbersIn } from './sum.ts'

export function PayoutEdit() {
  const [unsaved, setUnsaved] = useState(false)
  return (
    <RecordEdit<Payout>
      of={payouts}
      argumentsOf={argumentsOf}
      aside={({ status }) => <StatusChip status={status} />}
      actions={payout => (
        <>
          <MarkPaid
            payout={payout}
            variant="contained"
            size="medium"
            disabled={unsaved}
            title={unsaved ? 'Save what was typed first, or choose the status in the form.' : undefined}
          />
          <DeletePayout payout={payout} />
        </>
      )}
      above={payout => (isOfRun(payout) ? <OfRun payout={payout} /> : <Recorded payout={payout} />)}
      below={({ id }) => <History record="payout" id={id} />}
    >
      <UnsavedChanges onChange={setUnsaved} />
      <EditFields />
    </RecordEdit>
  )
}

const isOfRun = ({ payout_run_id = 0 }: Payout) => payout_run_id > 0

function EditFields() {
  const payout = useRecordContext<Payout>()!
  return isOfRun(payout) ? <FieldsOfRun status={payout.status} /> : <Fields />
}

function Recorded({ payout: { affiliate_id, amount, date, owner } }: { payout: Payout }) {
  const money = useMoney()
  return (
    <Typography sx={{ mb: 2, color: 'text.secondary', overflowWrap: 'anywhere' }}>
      {money.full(amount)} to <AffiliateName id={affiliate_id} link />, recorded on {time(date)} by{' '}
      <UserName id={owner} />.
    </Typography>
  )
}

/** What the files of the run said, and the bank has done: nobody can change it. */
function OfRun({ payout }: { payout: Payout }) {
  const money = useMoney()
  const { id, affiliate_id, amount, payout_run_id: run = 0, payout_method, referrals, date, owner } = payout
  const isFailed = payout.status === 'failed'
  const { data: [item] = [] } = useQuery({
    queryKey: ['run-items', 'of payout', id, payout.status],
    queryFn: () => get<Item[]>(`run-items?${queryOf({ payout_run_id: run, affiliate_id, payout_id: id })}`),
    enabled: useCan()('run-items.read'),
  })
  return (
    <Box sx={{ mb: 2 }}>
      <Details
        items={[
          ['Made by', <OfRunLink key="run" run={run} />],
          ['Amount', <strong key="amount">{money.full(amount)}</strong>],
          ['Affiliate', <AffiliateName key="affiliate" id={affiliate_id} link />],
          ['Method', <bdi key="method">{methodName(payout_method)}</bdi>],
          ['Referrals', <ReferralLinks key="referrals" text={referrals} />],
          [isFailed ? 'Failed at' : 'Paid at', time(date)],
          ['Payment', item?.reference && <bdi key="payment">{item.reference}</bdi>],
          ['Outcome', item && isFailed && <Outcome key="outcome" item={item} />],
          ['Recorded by', <UserName key="owner" id={owner} />],
        ]}
      />
    </Box>
  )
}

function Outcome({ item: { status, note } }: { item: Item }) {
  return (
    <>
      {capital(status)}
      {note && ': '}
      <bdi>{note}</bdi>
    </>
  )
}

const OfRunLink = ({ run }: { run: number }) => (
  <>
    Payout run <RecordLink kind="payout_run" id={run} />
  </>
)

/** Referrals that are listed at most. */
const MOST_LISTED = 50

function ReferralLinks({ text }: { text: string }) {
  const ids = numbersIn(text)
  return (
    <>
      {ids.slice(0, MOST_LISTED).map((id, index) => (
        <span key={id}>
          {index > 0 && ', '}
          <RecordLink kind="referral" id={id} />
        </span>
      ))}
      {ids.length > MOST_LISTED && ` and ${ids.length - MOST_LISTED} more`}
    </>
  )
}

function FieldsOfRun({ status }: { status: Payout['status'] }) {
  return (
    <FormSection
      title="What can change"
      hint={
        status === 'paid'
          ? 'A payout run made this payout, so its affiliate, amount and referrals stay as they are.'
          : 'A payout run made this payout, and it has failed: another payout run can pay what is owed.'
      }
    >
      {status === 'paid' && (
        <ChoiceInput
          source="status"
          label="Status"
          choices={statusChoices}
          helperText="Failed means that the money came back: its referrals are unpaid again, and the run lists it as returned."
        />
      )}
      <OfThePayment />
    </FormSection>
  )
}

function DeletePayout({ payout }: { payout: Payout }) {
  const money = useMoney()
  const isPaid = payout.status === 'paid'
  return (
    <DeleteRecord of={payouts} record={payout} name={`payout ${payout.id} of ${money.full(payout.amount)}`}>
      <Typography>
        The record is deleted for good, totals and reports no longer include it, and its number is never
        reused.
      </Typography>
      <Typography sx={{ mt: 1 }}>
        {isPaid && 'The referrals that it has paid are unpaid again. '}
        {isPaid && Number(payout.payout_run_id) > 0 && 'Its payout run lists the payment as returned. '}
        What stays: the affiliate and the referrals.
        {isPaid &&
          ' When the money did not arrive, set the payout to failed instead, which keeps it in the history.'}
      </Typography>
    </DeleteRecord>
  )
}

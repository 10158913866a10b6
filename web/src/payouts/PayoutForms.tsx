import DeleteIcon from '@mui/icons-material/DeleteOutlined'
import { Button, Typography } from '@mui/material'
import { useState } from 'react'
import {
  CreateBase,
  EditBase,
  required,
  SelectInput,
  TextInput,
  useDataProvider,
  useEditContext,
  useNotify,
  useRedirect,
  useReference,
  useRefresh,
} from 'react-admin'
import { useNavigate, useSearchParams } from 'react-router-dom'
import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { payeeOf } from '../affiliates/affiliate.tsx'
import { newIdempotencyKeys } from '../api.ts'
import { History } from '../tools/AuditLog.tsx'
import { Confirm } from '../ui/Confirm.tsx'
import {
  CarefulForm,
  FormButtons,
  FormSection,
  MomentInput,
  MoneyInput,
  numbersProblem,
  Row,
  UnsavedChanges,
} from '../ui/form.tsx'
import { time, useMoney } from '../ui/format.ts'
import { listAt } from '../ui/lists.ts'
import { Page, RecordProblem, toldByThePage } from '../ui/Page.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { Waiting } from '../ui/Waiting.tsx'
import { MarkPaid } from './MarkPaid.tsx'
import { OwedAfterPayout } from './OwedAfterPayout.tsx'
import { type Payout, statusChoices } from './payout.ts'
import { UnpaidReferrals } from './UnpaidReferrals.tsx'

const parent = { to: '/payouts', label: 'Payouts' }

type Values = Record<string, unknown>

/** The form's values as API arguments. A validated amount converts to a number without loss. */
function argumentsOf({ amount, ...data }: Values): Values {
  const { date, ...rest } = data
  return {
    ...rest,
    amount: Number(amount),
    payout_method: data.payout_method ?? '',
    referrals: data.referrals ?? '',
    reference: data.reference ?? '',
    note: data.note ?? '',
    // Without a date the server takes the present time.
    ...(date ? { date } : {}),
  }
}

export function PayoutCreate() {
  const [keyOf] = useState(newIdempotencyKeys)
  const notify = useNotify()
  const redirect = useRedirect()
  const payee = Number(useSearchParams()[0].get('affiliate_id'))
  return (
    <CreateBase
      resource="payouts"
      transform={argumentsOf}
      redirect={false}
      mutationOptions={{
        meta: { keyOf },
        onSuccess: (payout: Payout) => {
          notify(`Payout ${payout.id} recorded`, { type: 'success' })
          redirect('list', 'payouts')
        },
      }}
    >
      <Page title="Record payout" parent={parent} narrow>
        <CarefulForm defaultValues={{ status: 'paid', ...(payee && { affiliate_id: payee }) }}>
          <Fields isNew />
          <FormButtons back="/payouts" />
        </CarefulForm>
      </Page>
    </CreateBase>
  )
}

function Fields({ isNew = false }: { isNew?: boolean }) {
  return (
    <FormSection
      title="Payout"
      hint="This only records a payment; it does not move money. The selected referrals become paid."
    >
      <AffiliateInput
        nameOf={payeeOf}
        validate={required('Choose the affiliate who was paid.')}
        helperText="Search by name, e-mail address or number."
      />
      {isNew && <UnpaidReferrals />}
      <Row>
        <MoneyInput source="amount" label="Amount" />
        <SelectInput
          margin="none"
          source="status"
          label="Status"
          choices={statusChoices}
          validate={required()}
          helperText="Failed means that the money did not arrive."
        />
      </Row>
      {isNew && <OwedAfterPayout />}
      <Row>
        <TextInput
          source="payout_method"
          label="Method"
          helperText="Such as paypal or bank transfer."
          slotProps={{ htmlInput: { maxLength: 100 } }}
        />
        <TextInput
          source="referrals"
          label="Referrals"
          validate={numbersProblem}
          helperText={
            isNew
              ? 'Referral numbers, separated by commas. Follows the selection above.'
              : 'Numbers of the referrals it pays.'
          }
          slotProps={{ htmlInput: { inputMode: 'numeric' } }}
        />
      </Row>
      <Row>
        <MomentInput source="date" label="Paid at (UTC)" helperText={isNew ? 'Empty: now.' : false} />
        <TextInput
          source="reference"
          label="Reference"
          helperText="The payment's reference at the bank or payment service."
        />
      </Row>
      <TextInput source="note" label="Note" multiline minRows={2} maxRows={8} helperText="Only seen here." />
    </FormSection>
  )
}

export function PayoutEdit() {
  const notify = useNotify()
  const navigate = useNavigate()
  return (
    <EditBase
      resource="payouts"
      mutationMode="pessimistic"
      queryOptions={toldByThePage}
      redirect={false}
      transform={argumentsOf}
      mutationOptions={{
        onSuccess: (payout: Payout) => {
          notify(`Payout ${payout.id} saved`, { type: 'success' })
          navigate(listAt(parent.to))
        },
      }}
    >
      <EditPage />
    </EditBase>
  )
}

function EditPage() {
  const { record, error, isPending, refetch } = useEditContext<Payout>()
  const [unsaved, setUnsaved] = useState(false)
  const money = useMoney()
  if (error) {
    return <RecordProblem kind="payout" parent={parent} error={error} retry={() => refetch()} />
  }
  if (isPending || !record) return <Waiting />
  return (
    <Page
      title={`Payout ${record.id}`}
      parent={parent}
      narrow
      aside={<StatusChip status={record.status} />}
      actions={
        <>
          <MarkPaid
            payout={record}
            variant="contained"
            size="medium"
            disabled={unsaved}
            title={unsaved ? 'Save what was typed first, or choose the status in the form.' : undefined}
          />
          <DeletePayout payout={record} />
        </>
      }
    >
      <Typography sx={{ mb: 2, color: 'text.secondary' }}>
        {money.full(record.amount)} to <AffiliateName id={record.affiliate_id} link />, recorded on{' '}
        {time(record.date)} by <Owner id={record.owner} />.
      </Typography>
      <CarefulForm key={record.status} needs="payouts.edit">
        <UnsavedChanges onChange={setUnsaved} />
        <Fields />
        <FormButtons back="/payouts" />
      </CarefulForm>
      <History record="payout" id={record.id} />
    </Page>
  )
}

function Owner({ id }: { id: number }) {
  const { referenceRecord } = useReference({ reference: 'users', id })
  return <bdi>{referenceRecord?.display_name || referenceRecord?.login || `account ${id}`}</bdi>
}

function DeletePayout({ payout }: { payout: Payout }) {
  const dataProvider = useDataProvider()
  const notify = useNotify()
  const navigate = useNavigate()
  const refresh = useRefresh()
  const money = useMoney()
  const [asking, setAsking] = useState(false)
  const confirm = async () => {
    await dataProvider.delete('payouts', { id: payout.id, previousData: payout })
    notify(`Payout ${payout.id} deleted`, { type: 'success' })
    navigate(listAt(parent.to))
    refresh()
  }
  return (
    <>
      <Button color="error" startIcon={<DeleteIcon />} onClick={() => setAsking(true)}>
        Delete
      </Button>
      <Confirm
        open={asking}
        title={`Delete payout ${payout.id} of ${money.full(payout.amount)}?`}
        action="Delete"
        onConfirm={confirm}
        onClose={() => setAsking(false)}
      >
        <Typography>
          The record is deleted for good, totals and reports no longer include it, and its number is never
          reused.
        </Typography>
        <Typography>
          What stays: the affiliate, with all of its figures. When the money did not arrive, set the payout to
          failed instead, which keeps it in the history.
        </Typography>
      </Confirm>
    </>
  )
}

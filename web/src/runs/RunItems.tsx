import { Box, Button, MenuItem, TextField, Typography } from '@mui/material'
import { useMemo, useState } from 'react'
import { ListBase, useGetList, useListContext, useNotify, useRefresh } from 'react-admin'
import { Link } from 'react-router-dom'
import type { Outcome } from '../../../src/programme/runs/outcome.ts'
import { isOwnNote, itemStatuses, reasons } from '../../../src/programme/runs/words.ts'
import { AffiliateInput } from '../affiliates/AffiliateInput.tsx'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { numberedName } from '../affiliates/affiliate.tsx'
import { API, queryOf, request } from '../api.ts'
import type { Detail } from '../details/detail.ts'
import { useCan } from '../session.tsx'
import { Allowed } from '../ui/Allowed.tsx'
import { Cards, Ends } from '../ui/Cards.tsx'
import { Confirm } from '../ui/Confirm.tsx'
import type { Column } from '../ui/column.ts'
import { ExportLink } from '../ui/ExportLink.tsx'
import { ChoiceFilter } from '../ui/filters.tsx'
import { count, type Money, useMoney } from '../ui/format.ts'
import { Filters, Rows } from '../ui/ListFrame.tsx'
import { sentenceHere } from '../ui/numbers.ts'
import { Empty } from '../ui/Page.tsx'
import { RecordLink } from '../ui/RecordLink.tsx'
import { RecordTable } from '../ui/RecordTable.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { Breakable } from '../ui/table.tsx'
import { capital } from '../ui/words.ts'
import { useStep } from './RunActions.tsx'
import type { Item, Run } from './run.ts'

/** Payees of a run: who is paid, and who is excluded and why. */
export function RunItems({ run }: { run: Run }) {
  const money = useMoney()
  const columns = useMemo(() => columnsOf(run, money), [run, money])
  return (
    <Box component="section" aria-label="Payees">
      <Typography variant="h2" sx={{ mb: 1.5 }}>
        Payees
      </Typography>
      <ListBase
        resource={`payout-runs/${run.id}/items`}
        perPage={25}
        // Open items first, excluded ones last.
        sort={{ field: 'status', order: 'DESC' }}
        storeKey={false}
      >
        <Filters>
          <AffiliateInput nameOf={numberedName} helperText={false} sx={{ width: { sm: 220 } }} />
          <ChoiceFilter source="status" label="Status" choices={itemStatuses} />
          <ChoiceFilter source="reason" label="Why" choices={reasons} width={180} />
          <ExportOfPayees run={run} />
        </Filters>
        <Rows
          empty={<Empty title="Nobody is owed anything">Nobody has a balance that could be paid.</Empty>}
          table={<RecordTable<Item> label="Payees" columns={columns} />}
          cards={
            <Cards<Item> columns={columns}>
              {item => (
                <>
                  <Ends
                    left={<AffiliateName id={item.affiliate_id} link />}
                    right={columns.find(({ label }) => label === 'Amount')!.cell(item)}
                  />
                  <Ends left={<Reason item={item} none="" />} right={<StatusChip status={item.status} />} />
                  <Act run={run} item={item} />
                </>
              )}
            </Cards>
          }
        />
      </ListBase>
    </Box>
  )
}

/** Of those that the list shows. */
function ExportOfPayees({ run }: { run: Run }) {
  const { filterValues } = useListContext()
  return (
    <ExportLink href={`${API}/exports/run-items?${queryOf({ ...filterValues, payout_run_id: run.id })}`} />
  )
}

const columnsOf = (run: Run, money: Money): Column<Item>[] => [
  {
    label: 'Affiliate',
    sort: 'affiliate_name',
    cell: ({ affiliate_id }) => <AffiliateName id={affiliate_id} link />,
    minWidth: 130,
  },
  {
    label: 'Paid to',
    cell: item => <PaidTo item={item} />,
    minWidth: 190,
    wideOnly: true,
  },
  {
    label: 'Status',
    sort: 'status',
    cell: ({ status }) => <StatusChip status={status} />,
  },
  { label: 'Why', cell: item => <Reason item={item} />, minWidth: 90 },
  { label: 'Payout', cell: ({ payout_id }) => <RecordLink kind="payout" id={payout_id} /> },
  { label: 'Referrals', sort: 'referrals', cell: ({ referrals }) => count(referrals), figures: true },
  {
    label: 'Amount',
    sort: 'amount',
    cell: ({ amount }) => <strong>{money.full(amount)}</strong>,
    figures: true,
  },
  // Nothing can be done any more about what is cancelled.
  ...(run.status === 'cancelled'
    ? []
    : [{ label: 'Action', cell: (item: Item) => <Act run={run} item={item} /> }]),
]

/** A name that leads to no account would look as if it were one: it may be an e-mail address. */
function PaidTo({ item: { payee_name, payee_account } }: { item: Item }) {
  if (payee_account === '') return <>–</>
  return (
    <>
      <Breakable text={payee_name} />
      <Typography variant="caption" component="div" sx={{ color: 'text.secondary' }}>
        <Breakable text={payee_account} />
      </Typography>
    </>
  )
}

function Act({ run, item }: { run: Run; item: Item }) {
  if (run.status !== 'draft') return <Settle item={item} />
  const isUnknown = item.reason === 'no_payment_details' && run.method !== 'csv'
  return isUnknown ? <EnterDetails run={run} item={item} /> : <LeaveOut run={run} item={item} />
}

/** Those of the list who were left out for want of details, and have some by now. */
function useEnteredSince(method: string): readonly number[] {
  const { data = [] } = useListContext<Item>()
  const affiliates = data.filter(({ reason }) => reason === 'no_payment_details')
  const { data: details = [] } = useGetList<Detail>(
    'payment-details',
    {
      filter: { affiliate_id: affiliates.map(({ affiliate_id }) => affiliate_id), method, status: 'current' },
      pagination: { page: 1, perPage: affiliates.length },
      sort: { field: 'id', order: 'ASC' },
    },
    { enabled: useCan()('payment-details.read') },
  )
  return details.map(({ affiliate_id }) => affiliate_id)
}

function EnterDetails({ run: { method }, item }: { run: Run; item: Item }) {
  const { affiliate_id } = item
  if (useEnteredSince(method).includes(affiliate_id)) {
    return (
      <Typography variant="caption" sx={{ color: 'text.secondary' }}>
        Entered since: prepare the run again
      </Typography>
    )
  }
  return (
    <Allowed to="payment-details.create">
      <Button
        size="small"
        component={Link}
        aria-label={`Enter them: ${payeeOf(item)}`}
        to={`/payment-details/create?${queryOf({ affiliate_id, method })}`}
      >
        Enter them
      </Button>
    </Allowed>
  )
}

/** Leaves an affiliate out of a draft, or takes one back in. */
function LeaveOut({ run, item }: { run: Run; item: Item }) {
  const step = useStep(run)
  const [asking, setAsking] = useState(false)
  const may = useCan()('payout-runs.edit')
  const isOut = item.reason === 'left_out'
  if (!may || run.hash === '' || !(isOut || item.status === 'included')) return null
  const [action, argument, done] = isOut
    ? (['Take in', 'take_in', 'taken in'] as const)
    : (['Leave out', 'leave_out', 'left out'] as const)
  const name = payeeOf(item)
  return (
    <>
      <Button size="small" onClick={() => setAsking(true)} aria-label={`${action}: ${name}`}>
        {action}
      </Button>
      <Confirm
        open={asking}
        title={`${action} ${name}?`}
        action={action}
        danger={false}
        onConfirm={() => step('', { [argument]: [item.affiliate_id] }, `${name} ${done}`)}
        onClose={() => setAsking(false)}
      >
        <Typography>
          {isOut
            ? 'This run pays them as well, unless something else is in the way.'
            : 'This run does not pay them. What they are owed stays owed, and the next run can pay it.'}
        </Typography>
        <Typography>The run is prepared again, by you.</Typography>
      </Confirm>
    </>
  )
}

/** What was reported of a payment stands as it was written. Who is paid by a draft can still be left out of it. */
function noteOf(item: Item): string {
  if (!isOwnNote(item)) return item.note
  const note = sentenceHere(item.note)
  return note && item.status === 'included'
    ? `${note} Leave the affiliate out if these earnings were meant.`
    : note
}

/** @param none what is there without a reason */
function Reason({ item, none = '–' }: { item: Item; none?: string }) {
  const { reason } = item
  const note = noteOf(item)
  if (!reason && !note) return <>{none}</>
  return (
    <>
      {reason && capital(reason)}
      {note && (
        <Typography variant="caption" component="div" sx={{ color: 'text.secondary' }}>
          <bdi>{note}</bdi>
        </Typography>
      )}
    </>
  )
}

/** Name of who is paid; gone once they are erased. */
const payeeOf = ({ payee_name, affiliate_id }: Item) => payee_name || `affiliate ${affiliate_id}`

const outcomes: Partial<Record<Item['status'], readonly Outcome[]>> = {
  reserved: ['paid', 'failed', 'returned', 'unknown'],
  unknown: ['paid', 'failed', 'returned'],
  paid: ['returned'],
}

const effects: Record<Outcome, string> = {
  paid: 'The referrals become paid.',
  failed: 'Nothing was paid: the amount is owed again. This cannot be undone.',
  returned: 'The payment came back: the amount is owed again. This cannot be undone.',
  unknown: 'The amount stays reserved until you record what became of it.',
}

/** Records the result of one payment by hand. */
function Settle({ item }: { item: Item }) {
  const refresh = useRefresh()
  const notify = useNotify()
  const money = useMoney()
  const [asking, setAsking] = useState(false)
  const choices = useCan()('run-items.edit') ? outcomes[item.status] : undefined
  const [outcome, setOutcome] = useState<Outcome | ''>('')
  const [note, setNote] = useState('')
  if (!choices) return null
  // A note that is typed is kept for the next time.
  const close = () => {
    setAsking(false)
    setOutcome('')
  }
  const confirm = async () => {
    const body = { status: outcome, ...(note && { note }) }
    // Also after a refusal: somebody else may have recorded it.
    await request('POST', `run-items/${item.id}`, { body }).finally(refresh)
    setNote('')
    notify(`Recorded: ${outcome}`, { type: 'success' })
  }
  return (
    <>
      <Button size="small" onClick={() => setAsking(true)} aria-label={`Outcome of ${item.reference}`}>
        Outcome
      </Button>
      <Confirm
        open={asking}
        title={`What became of the ${money.full(item.amount)} for ${payeeOf(item)}?`}
        action="Record"
        danger={false}
        asks
        ready={outcome !== ''}
        onConfirm={confirm}
        onClose={close}
      >
        <PaymentNamed item={item} />
        <TextField
          select
          label="Outcome"
          autoFocus
          value={outcome}
          onChange={event => setOutcome(choices.find(choice => choice === event.target.value) ?? '')}
          helperText={outcome === '' ? 'Choose what the bank or the provider reports.' : effects[outcome]}
          sx={{ mt: 1 }}
        >
          {choices.map(choice => (
            <MenuItem key={choice} value={choice}>
              {capital(choice)}
            </MenuItem>
          ))}
        </TextField>
        <TextField label="Note" value={note} onChange={event => setNote(event.target.value)} />
      </Confirm>
    </>
  )
}

function PaymentNamed({ item }: { item: Item }) {
  const { reference, payee_account, note } = item
  return (
    <>
      <Typography>
        Payment <bdi>{reference}</bdi>
        {payee_account && (
          <>
            {' to '}
            <Breakable text={payee_account} />
          </>
        )}
        .
      </Typography>
      {note && (
        <Typography>
          Noted so far: <bdi>{noteOf(item)}</bdi>
        </Typography>
      )}
    </>
  )
}

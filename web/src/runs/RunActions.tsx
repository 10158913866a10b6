import { Button, Checkbox, FormControlLabel, Typography } from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNotify, useRefresh } from 'react-admin'
import { Link } from 'react-router-dom'
import { approvalOf } from '../../../src/programme/runs/words.ts'
import { WithNames } from '../affiliates/WithNames.tsx'
import { get, messageOf, request } from '../api.ts'
import { useCan, useLatestSession, useSession } from '../session.tsx'
import { Allowed } from '../ui/Allowed.tsx'
import { Confirm } from '../ui/Confirm.tsx'
import { day, plural, useMoney } from '../ui/format.ts'
import { nameOf, type Run, useReconciliation } from './run.ts'

/** Performs a step of a run, and invalidates everything that depends on it. */
export function useStep(run: Run) {
  const queryClient = useQueryClient()
  const refresh = useRefresh()
  const notify = useNotify()
  return async (path: string, body: object, message: string) => {
    try {
      await request('POST', `payout-runs/${run.id}${path}`, { body })
      notify(message, { type: 'success' })
    } finally {
      refresh()
      await queryClient.invalidateQueries()
    }
  }
}

export function RunActions({ run }: { run: Run }) {
  const { status } = run
  const may = useCan()('payout-runs.edit')
  if (!may) return null
  return (
    <>
      {status === 'draft' && run.hash !== '' && run.payees > 0 && <Approval run={run} />}
      {status === 'draft' && run.hash !== '' && run.payees === 0 && (
        <Typography variant="body2" sx={{ alignSelf: 'center', color: 'text.secondary' }}>
          Nobody would be paid: there is nothing to approve.
        </Typography>
      )}
      {status === 'draft' && run.hash !== '' && <PrepareAgain run={run} />}
      {status === 'cancelled' && <NewLike run={run} />}
      {['draft', 'approving', 'approved'].includes(status) && <Cancel run={run} />}
      {['approved', 'sent'].includes(status) && <Close run={run} />}
    </>
  )
}

/** How many persons it takes: of a draft, what the service would apply now. */
export function useApproval({ status, approval }: Run): Run['approval'] {
  const { settings } = useLatestSession()
  return status === 'draft' ? approvalOf(approval, settings.approval) : approval
}

/** Approving, or why the signed-in user cannot. */
function Approval({ run }: { run: Run }) {
  const { user } = useSession()
  const approval = useApproval(run)
  if (approval === 'one' || ![0, user.id].includes(run.prepared_by)) return <Approve run={run} />
  return (
    <Typography variant="body2" sx={{ alignSelf: 'center', color: 'text.secondary' }}>
      {run.prepared_by === 0
        ? 'Nobody can approve it: it was prepared by the command line. Prepare it again.'
        : 'Somebody else has to approve it: you prepared it.'}
    </Typography>
  )
}

/** Approves what the user has seen. @throws Error when the run was prepared again meanwhile */
async function approveAsSeen({ id, hash }: Run, approve: () => Promise<void>): Promise<void> {
  try {
    await approve()
  } catch (error) {
    const latest = await get<Run>(`payout-runs/${id}`).catch(() => undefined)
    if (latest === undefined || latest.hash === hash) throw error
    throw new Error('The run was prepared again since you opened it. Look at the payees again, then approve.')
  }
}

function Approve({ run }: { run: Run }) {
  const money = useMoney()
  const step = useStep(run)
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button variant="contained" onClick={() => setAsking(true)}>
        Approve
      </Button>
      <Confirm
        open={asking}
        title={`Approve ${nameOf(run).toLowerCase()}?`}
        action="Approve"
        danger={false}
        shown={problem => <WithNames text={problem} />}
        onConfirm={() =>
          approveAsSeen(run, () => step('/approve', { hash: run.hash }, `${nameOf(run)} approved`))
        }
        onClose={() => setAsking(false)}
      >
        <Typography>
          {money.full(run.amount)} for {plural(run.payees, 'payee')} will be reserved: nobody can edit or pay
          these referrals otherwise. If anything has changed since the run was prepared, the approval stops
          and tells you what.
        </Typography>
        {run.execution_date && (
          <Typography>
            The file asks the bank to pay on {day(run.execution_date)}, or on the first possible day after it.
          </Typography>
        )}
      </Confirm>
    </>
  )
}

/** Prepares the same run again, for balances that have changed since. */
function PrepareAgain({ run }: { run: Run }) {
  const step = useStep(run)
  const notify = useNotify()
  const [busy, setBusy] = useState(false)
  const prepare = async () => {
    // The second half of a double press.
    if (busy) return
    setBusy(true)
    try {
      await step('', {}, `${nameOf(run)} is being prepared again`)
    } catch (error) {
      notify(messageOf(error), { type: 'error' })
    } finally {
      setBusy(false)
    }
  }
  return (
    <Button variant="outlined" aria-busy={busy} onClick={prepare}>
      Prepare again
    </Button>
  )
}

/** Opens the form of a new run with the settings of this one. */
function NewLike({ run }: { run: Run }) {
  const { method, cut_off, execution_date, minimum, note, group_id, left_out } = run
  const record = {
    method,
    cut_off: cut_off.slice(0, 10),
    cut_off_time: cut_off,
    execution_date,
    minimum: String(minimum),
    note,
    group_id: group_id || null,
    exclude: left_out.join(', '),
  }
  return (
    <Allowed to="payout-runs.create">
      <Button variant="outlined" component={Link} to="/payout-runs/create" state={{ record }}>
        Prepare again
      </Button>
    </Allowed>
  )
}

function Cancel({ run }: { run: Run }) {
  const { status } = run
  const step = useStep(run)
  const [asking, setAsking] = useState(false)
  const [isSure, setSure] = useState(false)
  return (
    <>
      <Button color="error" onClick={() => setAsking(true)}>
        Cancel run
      </Button>
      <Confirm
        open={asking}
        title={`Cancel ${nameOf(run).toLowerCase()}?`}
        action="Cancel run"
        dismiss="Keep run"
        ready={status === 'draft' || isSure}
        onConfirm={() => step('/cancel', { status, not_handed_over: isSure }, `${nameOf(run)} cancelled`)}
        onClose={() => setAsking(false)}
      >
        <Typography>What it has reserved is owed as before, and the next run can pay it.</Typography>
        {status !== 'draft' && (
          <FormControlLabel
            control={<Checkbox checked={isSure} onChange={(_, checked) => setSure(checked)} />}
            label="No downloaded file has gone to a bank or to PayPal"
          />
        )}
      </Confirm>
    </>
  )
}

const outcomesText = (left: number) =>
  left > 0
    ? `The outcome of ${plural(left, 'payment')} is not recorded yet. Record it first: a run can be closed once nothing is open or unknown.`
    : 'The outcome of every payment is recorded. A payment that comes back later can still be recorded.'

function Close({ run }: { run: Run }) {
  const step = useStep(run)
  const [asking, setAsking] = useState(false)
  const { data } = useReconciliation(run)
  const left = data && data.open!.count + data.unknown!.count
  return (
    <>
      <Button variant="outlined" onClick={() => setAsking(true)}>
        Close
      </Button>
      <Confirm
        open={asking}
        title={`Close ${nameOf(run).toLowerCase()}?`}
        action="Close"
        danger={false}
        ready={left === 0}
        onConfirm={() => step('/close', {}, `${nameOf(run)} closed`)}
        onClose={() => setAsking(false)}
      >
        <Typography>{left === undefined ? 'The outcomes are being read.' : outcomesText(left)}</Typography>
      </Confirm>
    </>
  )
}

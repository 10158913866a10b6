import { Alert, Box, Stack } from '@mui/material'
import { useEffect } from 'react'
import { useRefresh } from 'react-admin'
import { WithNames } from '../affiliates/WithNames.tsx'
import { API } from '../api.ts'
import { GroupName } from '../groups/GroupName.tsx'
import { Allowed } from '../ui/Allowed.tsx'
import { Details } from '../ui/Details.tsx'
import { ExportLink } from '../ui/ExportLink.tsx'
import { count, day, plural, time, useMoney } from '../ui/format.ts'
import { Problem } from '../ui/Page.tsx'
import { RecordShow } from '../ui/RecordShow.tsx'
import { StatusChip } from '../ui/StatusChip.tsx'
import { Tile, Tiles } from '../ui/Tile.tsx'
import { UserName } from '../users/UserName.tsx'
import { Files } from './Files.tsx'
import { payoutRuns } from './pages.ts'
import { Results } from './Results.tsx'
import { RunActions, useApproval } from './RunActions.tsx'
import { RunItems } from './RunItems.tsx'
import { methodName, nameOf, type Run, useReconciliation } from './run.ts'

export function RunShow() {
  return (
    <RecordShow<Run>
      of={payoutRuns}
      nameOf={nameOf}
      aside={({ status }) => <StatusChip status={status} />}
      actions={run => <RunActions run={run} />}
    >
      {run => (
        <Stack sx={{ gap: 2, mb: 2 }}>
          <Progress run={run} />
          {run.refusal && (
            <Alert severity="warning">
              <WithNames text={run.refusal} />
            </Alert>
          )}
          {isUnpaid(run) ? <Preview run={run} /> : <ReconciliationTiles run={run} />}
          <RunDetails run={run} />
          {['approved', 'sent', 'closed'].includes(run.status) && (
            <>
              <Files run={run} />
              <Allowed to="payout-runs.edit">
                <Results run={run} />
              </Allowed>
            </>
          )}
          <RunItems run={run} />
        </Stack>
      )}
    </RecordShow>
  )
}

/** Progress of a step that runs in the background. */
function Progress({ run }: { run: Run }) {
  const isPreparing = run.status === 'draft' && run.hash === ''
  const refresh = useRefresh()
  useEffect(() => {
    if (!isPreparing && run.status !== 'approving') return
    const timer = setInterval(refresh, 2_000)
    return () => clearInterval(timer)
  }, [isPreparing, run.status, refresh])
  if (run.status === 'approving') {
    return (
      <Alert severity="info" role="status">
        The earnings of {count(run.done)} of {plural(run.payees, 'payee')} are reserved. It goes on by itself,
        and this page follows it.
      </Alert>
    )
  }
  if (!isPreparing) return null
  return (
    <Alert severity="info" role="status">
      The run is still being prepared. It goes on by itself, and this page follows it.
    </Alert>
  )
}

/** Nothing was paid by it, and nothing is reserved. */
const isUnpaid = ({ status }: Run) => status === 'draft' || status === 'cancelled'

function Preview({ run }: { run: Run }) {
  const money = useMoney()
  return (
    <Tiles>
      <Tile
        label={run.status === 'draft' ? 'Would be paid' : 'Would have been paid'}
        value={money.full(run.amount)}
        hint={plural(run.payees, 'payee')}
      />
      {run.status === 'draft' && (
        <Tile label="Excluded" value={plural(run.excluded, 'affiliate')} hint="each for the reason below" />
      )}
    </Tiles>
  )
}

const parts = [
  ['sent', 'Approved'],
  ['paid', 'Paid'],
  ['failed', 'Failed'],
  ['returned', 'Returned'],
  ['unknown', 'Unknown'],
  ['open', 'Open'],
] as const

/** Reconciliation: the approved amount, by outcome. */
function ReconciliationTiles({ run }: { run: Run }) {
  const money = useMoney()
  const { data, error } = useReconciliation(run)
  return (
    <Box component="section" aria-label="Reconciliation">
      {error && <Problem error={error} />}
      <Tiles busy={!data}>
        {parts.map(([name, label]) => (
          <Tile
            key={name}
            label={label}
            value={data ? money.full(data[name]!.sum) : '…'}
            hint={data && plural(data[name]!.count, 'payment')}
          />
        ))}
      </Tiles>
      <ExportLink href={`${API}/payout-runs/${run.id}/reconciliation/csv`} label="Reconciliation as CSV" />
    </Box>
  )
}

function RunDetails({ run }: { run: Run }) {
  const money = useMoney()
  const approval = useApproval(run)
  const account = (id: number, key: string) =>
    id === 0 ? 'the command line' : <UserName key={key} id={id} />
  return (
    <Details
      items={[
        ['Method', methodName(run.method)],
        ['Execution date', run.execution_date && day(run.execution_date)],
        ['Cut-off', run.cut_off ? time(run.cut_off) : 'None'],
        ['Group', run.group_id !== 0 && <GroupName key="group" id={run.group_id} />],
        ['Minimum', money.full(run.minimum)],
        ['Note', run.note && <bdi key="note">{run.note}</bdi>],
        ['Approval', approval === 'two' ? 'Two people: who prepared it cannot approve it' : 'One person'],
        ['Prepared', time(run.date)],
        ['Prepared by', account(run.prepared_by, 'prepared')],
        ['Approved', run.approved_at && time(run.approved_at)],
        ['Approved by', run.approved_at && account(run.approved_by, 'approved')],
        ['Reference', run.approved_at && <bdi key="reference">{run.reference}</bdi>],
        ['Sent', run.sent_at && time(run.sent_at)],
        ['Last results', run.last_results && <bdi key="results">{run.last_results}</bdi>],
        [run.status === 'cancelled' ? 'Cancelled' : 'Closed', run.closed_at && time(run.closed_at)],
      ]}
    />
  )
}

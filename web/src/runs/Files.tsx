import {
  Button,
  Card,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow,
  Typography,
} from '@mui/material'
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { isPaidBy } from '../../../src/programme/runs/words.ts'
import { API, downloadAtOnce, get } from '../api.ts'
import { Allowed } from '../ui/Allowed.tsx'
import { Confirm } from '../ui/Confirm.tsx'
import { ExportLink } from '../ui/ExportLink.tsx'
import { count, plural, time } from '../ui/format.ts'
import { Problem } from '../ui/Page.tsx'
import { figures } from '../ui/table.tsx'
import { useStep } from './RunActions.tsx'
import { methodName, type Run, type RunFile } from './run.ts'

/** Columns that are hidden on narrow screens, to make room for the buttons. */
const wide = { display: { xs: 'none', sm: 'table-cell' } }

/** The payment files of a run, and who has downloaded them. */
export function Files({ run }: { run: Run }) {
  const { data, error, refetch } = useQuery({
    queryKey: ['payout-runs', run.id, 'files'],
    queryFn: () => get<RunFile[]>(`payout-runs/${run.id}/files`),
  })
  return (
    <Card component="section" aria-label="Files">
      <Typography variant="h2" sx={{ p: 2, pb: 1 }}>
        Files
      </Typography>
      {error && <Problem error={error} />}
      <TableContainer tabIndex={0} role="region" aria-label="Files of the run">
        <Table size="small">
          <TableHead>
            <TableRow>
              <TableCell>File</TableCell>
              <TableCell sx={{ ...figures, ...wide }}>Payees</TableCell>
              <TableCell sx={wide}>Downloaded</TableCell>
              <TableCell>Handed over</TableCell>
              <TableCell sx={figures}>Action</TableCell>
            </TableRow>
          </TableHead>
          <TableBody>
            {data?.map(file => (
              <FileRow key={`${file.format} ${file.part}`} run={run} file={file} onDownload={refetch} />
            ))}
          </TableBody>
        </Table>
      </TableContainer>
    </Card>
  )
}

function FileRow({ run, file, onDownload }: { run: Run; file: RunFile; onDownload: () => void }) {
  const { format, part, parts, payees, erased, downloaded, handed_over } = file
  const name = parts > 1 ? `${methodName(format)}, ${part} of ${parts}` : methodName(format)
  const isPaying = isPaidBy(run, format)
  return (
    <TableRow>
      <TableCell>
        {name}
        {erased > 0 && run.status !== 'closed' && (
          <Typography variant="caption" component="div" sx={{ color: 'warning.main' }}>
            {payees === 0
              ? 'Every payee of this file was erased: record the outcome of each below.'
              : `Without ${plural(erased, 'payee')} who ${erased === 1 ? 'was' : 'were'} erased since: record the outcome of each below.`}
          </Typography>
        )}
        {!isPaying && (
          <Typography variant="caption" component="div" sx={{ color: 'text.secondary' }}>
            To read: accounts are masked, and nothing is paid by it.
          </Typography>
        )}
      </TableCell>
      <TableCell sx={{ ...figures, ...wide }}>{count(payees)}</TableCell>
      <TableCell sx={wide}>{downloaded ? time(downloaded) : '–'}</TableCell>
      <TableCell>{handed_over ? time(handed_over) : '–'}</TableCell>
      <TableCell sx={{ whiteSpace: { sm: 'nowrap' }, textAlign: 'right' }}>
        <Allowed to="payout-runs.edit">
          {payees > 0 && (
            <ExportLink
              href={`${API}/payout-runs/${run.id}/files/${format}?part=${part}`}
              label="Download"
              aria-label={`Download ${name}`}
              by={downloadAtOnce}
              onDownload={onDownload}
            />
          )}
          {isPaying && payees > 0 && !handed_over && run.status !== 'closed' && (
            <HandOver run={run} file={file} name={name} />
          )}
        </Allowed>
      </TableCell>
    </TableRow>
  )
}

/** The button goes with what it has recorded. */
function HandOver({ run, file: { format, part }, name }: { run: Run; file: RunFile; name: string }) {
  const step = useStep(run)
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button onClick={() => setAsking(true)} aria-label={`Handed over: ${name}`}>
        Handed over
      </Button>
      <Confirm
        open={asking}
        title={`Was this file handed over: ${name}?`}
        action="It was handed over"
        danger={false}
        onConfirm={() => step(`/files/${format}`, { part }, 'File handed over')}
        onClose={() => setAsking(false)}
      >
        <Typography>
          {run.status === 'approved' && 'From now on the run cannot be cancelled. '}
          Record what becomes of each payment once it is known.
        </Typography>
      </Confirm>
    </>
  )
}

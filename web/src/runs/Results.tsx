import {
  Alert,
  Button,
  Card,
  MenuItem,
  Stack,
  Table,
  TableBody,
  TableCell,
  TableContainer,
  TableHead,
  TableRow,
  TextField,
  Typography,
} from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useNotify, useRefresh } from 'react-admin'
import type { ResultFormat } from '../../../src/programme/runs/outcome.ts'
import type { ResultRecord } from '../../../src/programme/runs/schema.ts'
import { fileNameOf, unrecordedText } from '../../../src/programme/runs/words.ts'
import { AffiliateName } from '../affiliates/AffiliateName.tsx'
import { messageOf, request } from '../api.ts'
import { count, plural, useMoney } from '../ui/format.ts'
import { figures } from '../ui/table.tsx'
import { capital } from '../ui/words.ts'
import type { Run } from './run.ts'

/** A format that has no name here does not compile. */
const formats: Readonly<Record<ResultFormat, string>> = {
  csv: 'CSV: reference, status, note',
  paypal: 'PayPal report (CSV)',
  'pain.002': 'Bank answer (pain.002)',
  nacha: 'ACH returns (Nacha)',
}

/** What comes back for the files of each method. */
const answers: Readonly<Record<Run['method'], ResultFormat>> = {
  csv: 'csv',
  paypal: 'paypal',
  sepa: 'pain.002',
  nacha: 'nacha',
}

interface ResultFile {
  readonly name: string
  readonly content: string
  /** Where it is no file that somebody has chosen, and said the kind of. */
  readonly format?: ResultFormat
}

/** Most payments are made as the file says, and no bank reports it. */
const allPaid = ({ reference }: Run): ResultFile => ({
  name: 'All others paid',
  format: 'csv',
  content: `reference,status\n${reference},paid\n`,
})

/** Imports payment results: a dry run first, then recording after confirmation. */
export function Results({ run }: { run: Run }) {
  const [format, setFormat] = useState<string>(answers[run.method])
  const { chosen, preview, problem, choose, look, record } = useResults(run, format)
  return (
    <Card component="section" aria-label="Results" sx={{ p: 2 }}>
      <Typography variant="h2">Results</Typography>
      <Typography variant="body2" sx={{ color: 'text.secondary', mb: 2 }}>
        Import the outcome of the payments from a file, or say that all other payments were paid. You see a
        preview before anything is recorded.
      </Typography>
      <Stack direction="row" sx={{ gap: 1.5, flexWrap: 'wrap', alignItems: 'center' }}>
        <TextField
          select
          size="small"
          label="Format"
          value={format}
          onChange={event => {
            setFormat(event.target.value)
            void look(chosen, event.target.value)
          }}
          sx={{ minWidth: 240 }}
        >
          {Object.entries(formats).map(([id, name]) => (
            <MenuItem key={id} value={id}>
              {name}
            </MenuItem>
          ))}
        </TextField>
        <ChooseFile onChoose={choose} />
        {run.status !== 'closed' && <Button onClick={() => look(allPaid(run))}>All others were paid</Button>}
      </Stack>
      {problem && (
        <Alert severity="error" sx={{ mt: 2 }}>
          {problem}
        </Alert>
      )}
      {preview && chosen && <DryRun run={run} name={chosen.name} preview={preview} onRecord={record} />}
    </Card>
  )
}

const inFile = (problem: string) =>
  problem.replace(/^Content: line/, 'In the file, line').replace(/^Content:/, 'The file')

/** The selected results file, and what the server makes of it. */
function useResults(run: Run, format: string) {
  const queryClient = useQueryClient()
  const refresh = useRefresh()
  const notify = useNotify()
  const [chosen, setChosen] = useState<ResultFile>()
  const [preview, setPreview] = useState<ResultRecord>()
  const [problem, setProblem] = useState('')
  const latest = useRef(0)
  const send = async (file: ResultFile, dry_run: boolean, as = format) => {
    const own = latest.current
    setProblem('')
    try {
      const { name, content } = file
      const body = { content, format: file.format ?? as, dry_run, file_name: fileNameOf(name) }
      return (await request<ResultRecord>('POST', `payout-runs/${run.id}/results`, { body })).body
    } catch (error) {
      if (!dry_run || own === latest.current) setProblem(inFile(messageOf(error)))
      return undefined
    }
  }
  /** Reads a file without recording it, again where it is said to be of another kind. */
  const look = async (file: ResultFile | undefined, as = format) => {
    setPreview(undefined)
    setChosen(file)
    setProblem('')
    latest.current += 1
    const own = latest.current
    const next = file && (await send(file, true, as))
    // Of two answers, the earlier may come last.
    if (own === latest.current) setPreview(next)
  }
  const choose = async (file: File | undefined) => {
    if (!file) return
    // A file that was moved or changed since, or may not be read.
    const content = await file.text().catch(() => undefined)
    await look(content === undefined ? undefined : { name: file.name, content })
    if (content === undefined) setProblem('The file cannot be read: choose it again.')
  }
  const record = async () => {
    const own = latest.current
    const recorded = chosen && (await send(chosen, false))
    if (!recorded) return
    // What nothing was recorded of stays on the page, and so does what was chosen meanwhile.
    if (own === latest.current) await look(recorded.conflicts.length > 0 ? chosen : undefined)
    notify(summaryOf(recorded), { type: 'success' })
    refresh()
    await queryClient.invalidateQueries()
  }
  return { chosen, preview, problem, choose, look, record }
}

function ChooseFile({ onChoose }: { onChoose: (file: File | undefined) => Promise<void> }) {
  const field = useRef<HTMLInputElement>(null)
  return (
    <>
      <Button variant="outlined" onClick={() => field.current?.click()}>
        Choose file
      </Button>
      <input
        ref={field}
        type="file"
        hidden
        aria-label="File of results"
        onChange={event => {
          void onChoose(event.target.files?.[0])
          event.target.value = ''
        }}
      />
    </>
  )
}

const summaryOf = (result: ResultRecord) => {
  const { recorded, unchanged } = result
  const parts = Object.entries(recorded)
    .filter(([, payments]) => payments > 0)
    .map(([outcome, payments]) => `${count(payments)} ${outcome}`)
  return `${parts.join(', ') || 'Nothing new'}; ${count(unchanged)} recorded before${unrecordedText(result)}`
}

function DryRun({
  run,
  name,
  preview,
  onRecord,
}: {
  run: Run
  name: string
  preview: ResultRecord
  onRecord: () => Promise<void>
}) {
  const { conflicts, ignored, recorded } = preview
  const [busy, setBusy] = useState(false)
  const isNew = Object.values(recorded).some(count => count > 0)
  return (
    <Stack sx={{ gap: 1.5, mt: 2 }}>
      <Alert severity={conflicts.length > 0 ? 'warning' : 'info'} role="status">
        <bdi>{name}</bdi> would record: {summaryOf(preview)}
        {ignored > 0 && `; ${plural(ignored, 'line')} not final`}.
        {isNew && run.status === 'approved' && ' The run becomes sent with that.'}
      </Alert>
      <Lines preview={preview} />
      {isNew && (
        <Button
          variant="contained"
          sx={{ alignSelf: 'flex-start' }}
          loading={busy}
          onClick={() => {
            setBusy(true)
            void onRecord().finally(() => setBusy(false))
          }}
        >
          Record
        </Button>
      )}
    </Stack>
  )
}

const dense = { '& th, & td': { px: { xs: 0.5, sm: 1.75 } }, '& td': { overflowWrap: 'anywhere' } } as const

/** What becomes of each line of the file: those that match no payment and those that contradict come first. */
function Lines({
  preview: { lines, conflicts, unknown_references: unknown, recorded, unchanged },
}: {
  preview: ResultRecord
}) {
  const all = unchanged + Object.values(recorded).reduce((sum, each) => sum + each, 0)
  if (lines.length + conflicts.length + unknown.length === 0) return null
  return (
    <TableContainer tabIndex={0} role="region" aria-label="Lines of the file" sx={{ maxHeight: 420 }}>
      <Table size="small" stickyHeader sx={dense}>
        <TableHead>
          <TableRow>
            <TableCell>Reference</TableCell>
            <TableCell>Payee</TableCell>
            <TableCell sx={figures}>Amount</TableCell>
            <TableCell>What happens</TableCell>
          </TableRow>
        </TableHead>
        <TableBody>
          {unknown.map(reference => (
            <TableRow key={`unknown ${reference}`}>
              <TableCell colSpan={3}>
                <bdi>{reference}</bdi>
              </TableCell>
              <TableCell>Not in this run: nothing is recorded</TableCell>
            </TableRow>
          ))}
          {conflicts.map(conflict => (
            <ConflictRow key={`conflict ${conflict.reference}`} conflict={conflict} />
          ))}
          {lines.map(line => (
            <LineRow key={line.reference} line={line} />
          ))}
          {all > lines.length && (
            <TableRow>
              <TableCell colSpan={4}>and {count(all - lines.length)} more</TableCell>
            </TableRow>
          )}
        </TableBody>
      </Table>
    </TableContainer>
  )
}

/** What needs the decision of a person. */
function ConflictRow({
  conflict: { reference, reason, affiliate_id, payee_name, amount },
}: {
  conflict: ResultRecord['conflicts'][number]
}) {
  const money = useMoney()
  const isInRun = affiliate_id !== 0
  return (
    <TableRow>
      <TableCell>{reference}</TableCell>
      <TableCell>
        {payee_name ? <bdi>{payee_name}</bdi> : isInRun && <AffiliateName id={affiliate_id} />}
      </TableCell>
      <TableCell sx={figures}>{isInRun && money.full(amount)}</TableCell>
      <TableCell>Nothing is recorded: it {reason}</TableCell>
    </TableRow>
  )
}

function LineRow({
  line: { reference, affiliate_id, payee_name, amount, before, outcome, note },
}: {
  line: ResultRecord['lines'][number]
}) {
  const money = useMoney()
  return (
    <TableRow>
      <TableCell>{reference}</TableCell>
      <TableCell>{payee_name ? <bdi>{payee_name}</bdi> : <AffiliateName id={affiliate_id} />}</TableCell>
      <TableCell sx={figures}>{money.full(amount)}</TableCell>
      <TableCell>
        {before === outcome ? `Is ${outcome} already` : `${capital(before)} → ${outcome}`}
        {note && (
          <Typography variant="caption" component="div" sx={{ color: 'text.secondary' }}>
            <bdi>{note}</bdi>
          </Typography>
        )}
      </TableCell>
    </TableRow>
  )
}

/** Status transitions. A single record: with undo or after confirmation. Several (bulk): always after confirmation. */
import { Button, Checkbox, FormControlLabel, TextField, Typography } from '@mui/material'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { type ReactNode, useState } from 'react'
import { type RaRecord, useDataProvider, useListContext, useNotify, useRefresh } from 'react-admin'
import { doToMany, type Outcome, readSeen, type Seen, type Selection } from '../dataProvider.ts'
import { sumOf } from '../payouts/sum.ts'
import { useCan } from '../session.tsx'
import { ActionButton } from './ActionButton.tsx'
import { Confirm } from './Confirm.tsx'
import { count, plural, useMoney } from './format.ts'
import { OutcomeDialog } from './OutcomeDialog.tsx'
import { Problem } from './Page.tsx'
import type { RecordPages } from './pages.ts'

interface Movable extends RaRecord<number> {
  status: string
}

/** A status transition: its label, and the status that it leads to. */
interface Move<S extends string = string> {
  readonly action: string
  /** Name of the action in the API. */
  readonly verb: string
  readonly done: string
  readonly status: S
  readonly from: readonly S[]
  /** Consequences, shown in the confirmation. */
  readonly meaning: string
  /** Whether a single record needs confirmation too; otherwise there is undo. */
  readonly asks: boolean
  /** Where a reason may be given: the argument that takes it, and what becomes of it. */
  readonly reason?: { readonly argument: string; readonly hint: string }
}

/** The status transitions of a kind of record. */
export interface Moving<R extends Movable> {
  readonly of: RecordPages
  readonly nameOf: (record: R) => string
  readonly moves: readonly Move<R['status']>[]
  /** What somebody who decides has looked at, beside the status: nothing is moved where it has changed since. */
  readonly seen: readonly (keyof R & string)[]
}

const look = (move: Move) =>
  ({
    variant: move.action === 'Approve' ? 'contained' : 'outlined',
    color: move.action === 'Reject' ? 'error' : 'primary',
  }) as const

/** Refetches everything, since totals, the log and balances may all depend on a status. */
function useAfterMove() {
  const queryClient = useQueryClient()
  const refresh = useRefresh()
  return async () => {
    refresh()
    await queryClient.invalidateQueries()
  }
}

/** Bulk transition of the selected records, or of all that match the filters. Failures are listed with the reason. */
export function BulkMoves<R extends Movable>({ moving }: { moving: Moving<R> }) {
  const may = useCan()(`${moving.of.resource}.edit`)
  return may && <AllowedBulkMoves moving={moving} />
}

function AllowedBulkMoves<R extends Movable>({ moving }: { moving: Moving<R> }) {
  const { selectedIds } = useListContext<R>()
  const [outcome, setOutcome] = useState<Outcome & { word: string }>()
  return (
    <>
      {selectedIds.length > 0 && <MovesOfChosen moving={moving} onFailures={setOutcome} />}
      {outcome && (
        <OutcomeDialog
          of={moving.of}
          outcome={outcome}
          word={outcome.word}
          onClose={() => setOutcome(undefined)}
        />
      )}
    </>
  )
}

/** There as long as something is chosen: the wish to change all that match ends with it. */
function MovesOfChosen<R extends Movable>({
  moving,
  onFailures,
}: {
  moving: Moving<R>
  onFailures: (outcome: Outcome & { word: string }) => void
}) {
  const { selectedIds, onUnselectItems, filterValues, total = 0 } = useListContext<R>()
  const afterMove = useAfterMove()
  const notify = useNotify()
  const [isForAll, setAll] = useState(false)
  const { resource, name } = moving.of
  const number = isForAll ? total : selectedIds.length
  const selection: Selection = isForAll ? { filter: filterValues } : { ids: selectedIds.map(Number) }
  const act = async (move: Move, seen: readonly Seen[], args: object) => {
    const all = { ...args, from: move.from }
    const result = await doToMany(resource, move.verb, selection, seen, all).finally(afterMove)
    onUnselectItems()
    if (result.failed.length > 0) onFailures({ ...result, word: move.done })
    else notify(`${plural(result.done.length, name[0].toLowerCase())} ${move.done}`, { type: 'success' })
  }
  return (
    <>
      {total > selectedIds.length && (
        <FormControlLabel
          control={<Checkbox size="small" checked={isForAll} onChange={(_, checked) => setAll(checked)} />}
          label={`All ${count(total)} that match`}
        />
      )}
      {moving.moves.map(move => (
        <MoveOfChosen
          key={move.action}
          moving={moving}
          move={move}
          selection={selection}
          number={number}
          act={(seen, args) => act(move, seen, args)}
        />
      ))}
    </>
  )
}

/** The question says what is changed as it was when it was asked; nothing else is changed. */
function MoveOfChosen<R extends Movable>({
  moving: { of, seen: fields },
  move,
  selection,
  number,
  act,
}: {
  moving: Moving<R>
  move: Move
  selection: Selection
  number: number
  act: (seen: readonly Seen[], args: object) => Promise<unknown>
}) {
  const [asking, setAsking] = useState(false)
  const { data, isFetching, error, refetch } = useQuery({
    queryKey: [of.resource, 'seen', selection],
    queryFn: () => readSeen(of.resource, selection, fields),
    enabled: asking,
    staleTime: 0,
    gcTime: 0,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
  })
  const seen = isFetching || error ? undefined : data
  return (
    <ConfirmedMove
      move={move}
      subject={plural(seen?.length ?? number, of.name[0].toLowerCase())}
      ready={seen !== undefined}
      act={args => act(seen!, args)}
      onAsking={setAsking}
    >
      {seen && <Effect seen={seen} move={move} />}
      {error && <Problem error={error} retry={refetch} />}
    </ConfirmedMove>
  )
}

/** The transitions available from a record's current status. */
export function Moves<R extends Movable>({ moving, record }: { moving: Moving<R>; record: R }) {
  const may = useCan()(`${moving.of.resource}.edit`)
  if (!may) return null
  return moving.moves.map(move => {
    const MoveOfOne = move.asks ? ConfirmedMoveOfOne : UndoableMove
    return <MoveOfOne key={move.action} move={move} moving={moving} record={record} />
  })
}

interface SingleMoveProps<R extends Movable> {
  move: Move
  moving: Moving<R>
  record: R
}

/** Changes the status of one record, and shows a notification. */
function useMoveOne<R extends Movable>({ of, seen }: Moving<R>) {
  const dataProvider = useDataProvider()
  const afterMove = useAfterMove()
  const notify = useNotify()
  return async (record: R, status: string, message: string, args: object = {}) => {
    const data = { ...record, ...args, status }
    const change = { id: record.id, data, previousData: record, meta: { seen } }
    await dataProvider.update(of.resource, change).finally(afterMove)
    notify(message, { type: 'success' })
  }
}

function ConfirmedMoveOfOne<R extends Movable>({ move, moving, record }: SingleMoveProps<R>) {
  const moveOne = useMoveOne(moving)
  const name = moving.nameOf(record)
  return (
    <ConfirmedMove
      move={move}
      subject={name}
      label={`${move.action}: ${name}`}
      offered={move.from.includes(record.status)}
      act={args => moveOne(record, move.status, `${name} ${move.done}`, args)}
    />
  )
}

function UndoableMove<R extends Movable>({ move, moving, record }: SingleMoveProps<R>) {
  const moveOne = useMoveOne(moving)
  const [before, setBefore] = useState<string>()
  const hasMoved = before !== undefined && record.status === move.status
  if (!hasMoved && !move.from.includes(record.status)) return null
  const name = moving.nameOf(record)
  // What it was before is kept after undo: without it the button, and the focus, would go until the record is shown anew.
  const act = async () => {
    if (hasMoved) return moveOne(record, before, `${name} is ${before} again`)
    setBefore(record.status)
    return moveOne(record, move.status, `${name} ${move.done}`)
  }
  const { variant, color } = look(move)
  return (
    <ActionButton
      variant={hasMoved ? 'outlined' : variant}
      color={color}
      action={move.action}
      subject={name}
      done={hasMoved}
      act={act}
    />
  )
}

/** How many of the records a transition changes, and their sum. */
function Effect({ seen, move }: { seen: readonly Seen[]; move: Move }) {
  const money = useMoney()
  const concerned = move.from.flatMap(status => {
    const several = seen.filter(record => record.status === status)
    const sum = several.some(hasAmount) ? `, ${money.full(sumOf(several.filter(hasAmount)))}` : ''
    return several.length > 0 ? [{ several, text: `${count(several.length)} ${status}${sum}` }] : []
  })
  const others = seen.length - concerned.reduce((sum, { several }) => sum + several.length, 0)
  return (
    <Typography role="status">
      {concerned.length > 0
        ? `It changes ${concerned.map(({ text }) => text).join('; ')}.`
        : 'It changes none.'}
      {others > 0 && ` ${plural(others, 'other')} ${others === 1 ? 'stays as it is' : 'stay as they are'}.`}
    </Typography>
  )
}

const hasAmount = (record: Seen): record is Seen & { amount: string } => typeof record.amount === 'string'

function ConfirmedMove({
  move,
  subject,
  label = move.action,
  offered = true,
  ready = true,
  act,
  onAsking,
  children,
}: {
  move: Move
  subject: string
  /** Name of the button, for screen readers. */
  label?: string
  /** Where somebody else was faster it is not any more: the question stays, with the refusal and what was typed. */
  offered?: boolean
  /** Whether it is known what is asked about. */
  ready?: boolean
  /** @param args with the reason, if one was given */
  act: (args: object) => Promise<unknown>
  /** Called when the question is asked, and when it is closed. */
  onAsking?: (asking: boolean) => void
  children?: ReactNode
}) {
  const [asking, setAsked] = useState(false)
  const setAsking = (now: boolean) => {
    setAsked(now)
    onAsking?.(now)
  }
  const [reason, setReason] = useState('')
  const { reason: takes } = move
  const close = () => {
    setAsking(false)
    setReason('')
  }
  return (
    <>
      {offered && (
        <Button {...look(move)} aria-label={label} onClick={() => setAsking(true)}>
          {move.action}
        </Button>
      )}
      <Confirm
        open={asking}
        title={`${move.action} ${subject}?`}
        action={move.action}
        danger={move.action === 'Reject'}
        asks={takes !== undefined}
        ready={offered && ready}
        onConfirm={() => act(takes && reason.trim() ? { [takes.argument]: reason.trim() } : {})}
        onClose={close}
      >
        {asking && children}
        <Typography>{move.meaning}</Typography>
        {takes && <Reason hint={takes.hint} value={reason} onChange={setReason} />}
      </Confirm>
    </>
  )
}

function Reason({
  hint,
  value,
  onChange,
}: {
  hint: string
  value: string
  onChange: (typed: string) => void
}) {
  return (
    <TextField
      label="Reason (optional)"
      value={value}
      onChange={event => onChange(event.target.value)}
      helperText={hint}
      autoFocus
      size="small"
      fullWidth
    />
  )
}

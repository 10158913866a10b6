/** Sets records to another status: one, which can be taken back or is asked first, or several, which is always asked first. */
import { Button, Typography } from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { type RaRecord, useListContext, useNotify, useRefresh } from 'react-admin'
import { editEach, type Outcome } from '../dataProvider.ts'
import { ActionButton } from './ActionButton.tsx'
import { Confirm } from './Confirm.tsx'
import { plural } from './format.ts'
import { OutcomeDialog } from './OutcomeDialog.tsx'
import type { RecordPages } from './pages.ts'

interface Movable extends RaRecord<number> {
  status: string
}

/** What can be done with a record in some states: the word, and the state that it leads to. */
export interface Move<S extends string = string> {
  readonly action: string
  readonly done: string
  readonly status: S
  readonly from: readonly S[]
  /** What it means. */
  readonly meaning: string
  /** Whether it is asked first also for one; otherwise it can be taken back. */
  readonly asks: boolean
}

/** What a kind of record says of its moves. */
export interface Moving<R extends Movable> {
  readonly of: RecordPages
  readonly nameOf: (record: R) => string
  readonly moves: readonly Move<R['status']>[]
}

const look = (move: Move) =>
  ({
    variant: move.action === 'Approve' ? 'contained' : 'outlined',
    color: move.action === 'Reject' ? 'error' : 'primary',
  }) as const

/** Sets records to another status and reads anew what depends on it. One that can't be is no reason to leave the others. */
function useSetStatus(resource: string) {
  const queryClient = useQueryClient()
  const refresh = useRefresh()
  return async (ids: readonly number[], status: string): Promise<Outcome> => {
    try {
      return await editEach(resource, ids, { status })
    } finally {
      refresh()
      await queryClient.invalidateQueries()
    }
  }
}

/** Moves several at once. What was not done is listed with the reason. */
export function BulkMoves<R extends Movable>({ moving: { of, moves } }: { moving: Moving<R> }) {
  const { selectedIds, onUnselectItems } = useListContext<R>()
  const setStatus = useSetStatus(of.resource)
  const notify = useNotify()
  const [outcome, setOutcome] = useState<Outcome & { done: string }>()
  const one = of.name[0].toLowerCase()
  const act = async (move: Move) => {
    const result = await setStatus(selectedIds as number[], move.status)
    onUnselectItems()
    if (result.refused.length > 0) setOutcome({ ...result, done: move.done })
    else notify(`${plural(result.ids.length, one)} ${move.done}`, { type: 'success' })
  }
  return (
    <>
      {selectedIds.length > 0 &&
        moves.map(move => (
          <AskedMove
            key={move.action}
            move={move}
            subject={plural(selectedIds.length, one)}
            act={() => act(move)}
          />
        ))}
      {outcome && (
        <OutcomeDialog of={of} outcome={outcome} done={outcome.done} onClose={() => setOutcome(undefined)} />
      )}
    </>
  )
}

/** The moves that one record can make from where it is. */
export function Moves<R extends Movable>({ moving, record }: { moving: Moving<R>; record: R }) {
  return moving.moves.map(move => {
    if (!move.asks) return <UndoableMove key={move.action} move={move} moving={moving} record={record} />
    return move.from.includes(record.status) ? (
      <AskedMoveOfOne key={move.action} move={move} moving={moving} record={record} />
    ) : null
  })
}

interface OfOne<R extends Movable> {
  move: Move
  moving: Moving<R>
  record: R
}

/** Does it with one record, and throws what is against it. */
function useMoveOne<R extends Movable>({ of }: Moving<R>) {
  const setStatus = useSetStatus(of.resource)
  const notify = useNotify()
  return async (record: R, status: string, message: string) => {
    const { refused } = await setStatus([record.id], status)
    if (refused[0]) throw new Error(refused[0].reason)
    notify(message, { type: 'success' })
  }
}

function AskedMoveOfOne<R extends Movable>({ move, moving, record }: OfOne<R>) {
  const moveOne = useMoveOne(moving)
  const name = moving.nameOf(record)
  return (
    <AskedMove move={move} subject={name} act={() => moveOne(record, move.status, `${name} ${move.done}`)} />
  )
}

function UndoableMove<R extends Movable>({ move, moving, record }: OfOne<R>) {
  const moveOne = useMoveOne(moving)
  const [before, setBefore] = useState<string>()
  const done = before !== undefined && record.status === move.status
  if (!done && !move.from.includes(record.status)) return null
  const name = moving.nameOf(record)
  const act = async () => {
    setBefore(done ? undefined : record.status)
    if (done) await moveOne(record, before, `${name} is ${before} again`)
    else await moveOne(record, move.status, `${name} ${move.done}`)
  }
  const { variant, color } = look(move)
  return (
    <ActionButton
      variant={done ? 'outlined' : variant}
      color={color}
      action={move.action}
      subject={name}
      done={done}
      act={act}
    />
  )
}

function AskedMove({ move, subject, act }: { move: Move; subject: string; act: () => Promise<unknown> }) {
  const [asking, setAsking] = useState(false)
  return (
    <>
      <Button {...look(move)} onClick={() => setAsking(true)}>
        {move.action}
      </Button>
      <Confirm
        open={asking}
        title={`${move.action} ${subject}?`}
        action={move.action}
        danger={move.action === 'Reject'}
        onConfirm={act}
        onClose={() => setAsking(false)}
      >
        <Typography>{move.meaning}</Typography>
      </Confirm>
    </>
  )
}

import { Button, Typography } from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useDataProvider, useListContext, useNotify, useRefresh } from 'react-admin'
import { ActionButton } from '../ui/ActionButton.tsx'
import { Confirm } from '../ui/Confirm.tsx'
import { plural } from '../ui/format.ts'
import { type Affiliate, type Move, moves, nameOf, type Status } from './affiliate.tsx'

const look = (move: Move) =>
  ({
    variant: move.action === 'Approve' ? 'contained' : 'outlined',
    color: move.action === 'Reject' ? 'error' : 'primary',
  }) as const

/** Sets affiliates to another status and reads anew what depends on it. */
function useSetStatus() {
  const dataProvider = useDataProvider()
  const queryClient = useQueryClient()
  const notify = useNotify()
  const refresh = useRefresh()
  return async (ids: number[], status: Status, message: string) => {
    try {
      await dataProvider.updateMany('affiliates', { ids, data: { status } })
      notify(message, { type: 'success' })
    } finally {
      refresh()
      await queryClient.invalidateQueries({ queryKey: ['affiliates'] })
    }
  }
}

/** Moves several affiliates at once, which is always asked first. */
export function BulkMoves() {
  const { selectedIds, onUnselectItems } = useListContext<Affiliate>()
  const setStatus = useSetStatus()
  const ids = selectedIds as number[]
  const subject = plural(ids.length, 'affiliate')
  return moves.map(move => (
    <AskedMove
      key={move.action}
      move={move}
      subject={subject}
      act={async () => {
        await setStatus(ids, move.status, `${subject} ${move.done}`)
        onUnselectItems()
      }}
    />
  ))
}

/** The moves that one affiliate can make from where it is. */
export function Moves({ affiliate }: { affiliate: Affiliate }) {
  const setStatus = useSetStatus()
  return moves.map(move => {
    if (!move.asks) return <UndoableMove key={move.action} move={move} affiliate={affiliate} />
    if (!move.from.includes(affiliate.status)) return null
    const name = nameOf(affiliate)
    return (
      <AskedMove
        key={move.action}
        move={move}
        subject={name}
        act={() => setStatus([affiliate.id], move.status, `${name} ${move.done}`)}
      />
    )
  })
}

function UndoableMove({ move, affiliate }: { move: Move; affiliate: Affiliate }) {
  const setStatus = useSetStatus()
  const [before, setBefore] = useState<Status>()
  const done = before !== undefined && affiliate.status === move.status
  if (!done && !move.from.includes(affiliate.status)) return null
  const name = nameOf(affiliate)
  const act = async () => {
    setBefore(done ? undefined : affiliate.status)
    if (done) await setStatus([affiliate.id], before, `${name} is ${before} again`)
    else await setStatus([affiliate.id], move.status, `${name} ${move.done}`)
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

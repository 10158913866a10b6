import { Button, Typography } from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useDataProvider, useListContext, useNotify, useRefresh } from 'react-admin'
import { messageOf } from '../api.ts'
import { Confirm } from '../ui/Confirm.tsx'
import { plural } from '../ui/format.ts'
import { type Affiliate, type Move, moves, nameOf } from './affiliate.tsx'

/** Moves several affiliates at once. */
export function BulkMoves() {
  const { selectedIds, onUnselectItems } = useListContext<Affiliate>()
  const subject = selectedIds.length === 1 ? '1 affiliate' : plural(selectedIds.length, 'affiliate')
  return moves.map(move => (
    <MoveButton
      key={move.action}
      move={move}
      ids={selectedIds as number[]}
      subject={subject}
      asks
      onDone={onUnselectItems}
    />
  ))
}

/** The moves that one affiliate can make from where it is. */
export function Moves({ affiliate }: { affiliate: Affiliate }) {
  return moves
    .filter(move => move.from.includes(affiliate.status))
    .map(move => (
      <MoveButton
        key={move.action}
        move={move}
        ids={[affiliate.id]}
        subject={nameOf(affiliate)}
        asks={move.asks}
      />
    ))
}

function MoveButton({
  move,
  ids,
  subject,
  asks,
  onDone,
}: {
  move: Move
  ids: number[]
  subject: string
  asks: boolean
  onDone?: () => void
}) {
  const dataProvider = useDataProvider()
  const queryClient = useQueryClient()
  const notify = useNotify()
  const refresh = useRefresh()
  const [asking, setAsking] = useState(false)
  const [busy, setBusy] = useState(false)

  const act = async () => {
    setBusy(true)
    try {
      await dataProvider.updateMany('affiliates', { ids, data: { status: move.status } })
      onDone?.()
      notify(`${subject} ${move.done}`, { type: 'success' })
    } finally {
      setBusy(false)
      refresh()
      await queryClient.invalidateQueries({ queryKey: ['affiliates'] })
    }
  }
  const actAtOnce = () => act().catch(error => notify(messageOf(error), { type: 'error' }))

  return (
    <>
      <Button
        variant={move.action === 'Approve' ? 'contained' : 'outlined'}
        color={move.action === 'Reject' ? 'error' : 'primary'}
        loading={busy && !asking}
        onClick={() => (asks ? setAsking(true) : actAtOnce())}
      >
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

import { Button, type ButtonProps } from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useDataProvider, useNotify, useRefresh } from 'react-admin'
import { messageOf } from '../api.ts'
import { useMoney } from '../ui/format.ts'
import type { Payout } from './payout.ts'

/** Sets a payout that failed to paid, in one click. */
export function MarkPaid({
  payout,
  onDone,
  ...rest
}: { payout: Payout; onDone?: () => void } & Omit<ButtonProps, 'onClick'>) {
  const dataProvider = useDataProvider()
  const queryClient = useQueryClient()
  const notify = useNotify()
  const refresh = useRefresh()
  const money = useMoney()
  const [busy, setBusy] = useState(false)
  const mark = async () => {
    setBusy(true)
    try {
      await dataProvider.update('payouts', {
        id: payout.id,
        data: { ...payout, status: 'paid' },
        previousData: payout,
      })
      notify(`Payout ${payout.id} of ${money.full(payout.amount)} is paid now`, { type: 'success' })
      onDone?.()
    } catch (error) {
      notify(messageOf(error), { type: 'error' })
    } finally {
      setBusy(false)
      refresh()
      await queryClient.invalidateQueries({ queryKey: ['payouts'] })
    }
  }
  return (
    <Button
      size="small"
      variant="outlined"
      loading={busy}
      aria-label={`Mark as paid: payout ${payout.id}`}
      {...rest}
      onClick={event => {
        event.stopPropagation()
        void mark()
      }}
    >
      Mark as paid
    </Button>
  )
}

import type { ButtonProps } from '@mui/material'
import { useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useNotify, useUpdate } from 'react-admin'
import { useCan } from '../session.tsx'
import { ActionButton } from '../ui/ActionButton.tsx'
import { useMoney } from '../ui/format.ts'
import type { Payout } from './payout.ts'

/** What a change of a payout's status changes beside the payout itself. */
const affected = (id: number) => [['payouts', 'totals'], ['reports'], ['audit', 'payout', id]]

/**
 * Sets a payout that failed to paid, in one click, which another one takes back. The payout stays where it is in its list,
 * even if the list is of failed ones: what moves up under the pointer would be taken for it.
 */
export function MarkPaid({ payout, ...rest }: { payout: Payout } & Omit<ButtonProps, 'onClick' | 'action'>) {
  const [update] = useUpdate<Payout>()
  const queryClient = useQueryClient()
  const notify = useNotify()
  const money = useMoney()
  const [marked, setMarked] = useState(false)
  const may = useCan()('payouts.edit')
  const isPaidHere = marked && payout.status === 'paid'
  if (!may || (payout.status !== 'failed' && !isPaidHere)) return null
  const act = async () => {
    const status = isPaidHere ? 'failed' : 'paid'
    const change = { id: payout.id, data: { ...payout, status }, previousData: payout } as const
    try {
      await update('payouts', change, { returnPromise: true })
    } catch (error) {
      await queryClient.invalidateQueries({ queryKey: ['payouts'] })
      throw error
    }
    setMarked(!isPaidHere)
    notify(
      `Payout ${payout.id} of ${money.full(payout.amount)} is ${status}${isPaidHere ? ' again' : ' now'}`,
      {
        type: 'success',
      },
    )
    await Promise.all(affected(payout.id).map(queryKey => queryClient.invalidateQueries({ queryKey })))
  }
  return (
    <ActionButton
      size="small"
      variant="outlined"
      {...rest}
      action="Mark as paid"
      subject={`payout ${payout.id}`}
      done={isPaidHere}
      act={act}
    />
  )
}

import type { ButtonProps } from '@mui/material'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef, useState } from 'react'
import { useNotify, useUpdate } from 'react-admin'
import { get } from '../api.ts'
import { useCan } from '../session.tsx'
import { ActionButton } from '../ui/ActionButton.tsx'
import { useMoney } from '../ui/format.ts'
import type { Payout } from './payout.ts'

/** What a change of a payout's status changes beside the payout itself. */
const affected = (id: number) => [
  ['payouts', 'totals'],
  ['payouts', 'open'],
  ['reports'],
  ['audit', 'payout', id],
]

/** As many of the newest as can be marked; an older one is set to paid in its form. */
const MOST = 1000

/** A payout of a run never becomes paid, and neither does one whose referrals were paid otherwise: the server says which. */
function useCanBePaid({ id, status }: Payout): boolean {
  const { data } = useQuery({
    queryKey: ['payouts', 'open'],
    queryFn: () => get<number[]>(`payouts?failure=open&made_by=person&fields=ids&order=desc&number=${MOST}`),
    enabled: status === 'failed',
  })
  return status === 'failed' && (data?.includes(id) ?? false)
}

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
  const canBePaid = useCanBePaid(payout)
  const isPaidHere = marked && payout.status === 'paid'
  const wasPaidHere = useRef(false)
  // What it has taken back it can do again: it keeps the focus until the list of the server says so as well.
  const isOffered = canBePaid || (wasPaidHere.current && payout.status === 'failed')
  if (!may || !(isOffered || isPaidHere)) return null
  const act = async () => {
    const status = isPaidHere ? 'failed' : 'paid'
    const change = { id: payout.id, data: { ...payout, status }, previousData: payout } as const
    try {
      await update('payouts', change, { returnPromise: true })
    } catch (error) {
      await queryClient.invalidateQueries({ queryKey: ['payouts'] })
      throw error
    }
    wasPaidHere.current = true
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

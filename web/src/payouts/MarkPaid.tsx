import type { ButtonProps } from '@mui/material'
import { useQuery, useQueryClient } from '@tanstack/react-query'
import { useRef } from 'react'
import { useNotify, useUpdate } from 'react-admin'
import { get } from '../api.ts'
import { useCan } from '../session.tsx'
import { ActionButton } from '../ui/ActionButton.tsx'
import { useMoney } from '../ui/format.ts'
import type { Payout } from './payout.ts'

/** Queries that depend on a payout's status. */
const affected = (id: number) => [
  // Its own page, which reads it in another way than lists do.
  ['payouts', 'getOne'],
  ['payouts', 'totals'],
  ['payouts', 'open'],
  ['referrals', 'totals'],
  ['affiliates', 'deleted'],
  ['reports'],
  ['audit', 'payout', id],
]

/** The newest failed payouts that get a button; older ones are marked as paid in their form. */
const MOST = 1000

/**
 * Whether a payout has failed and what it was for is still owed. The server lists those: a payout of a run can never be
 * marked as paid, nor can one whose referrals were paid otherwise.
 */
export function useIsOpen({ id, status }: Payout, madeBy: 'person' | 'run'): boolean {
  const { data } = useQuery({
    queryKey: ['payouts', 'open', madeBy],
    queryFn: () =>
      get<number[]>(`payouts?failure=open&made_by=${madeBy}&fields=ids&order=desc&number=${MOST}`),
    enabled: status === 'failed',
  })
  return status === 'failed' && (data?.includes(id) ?? false)
}

/**
 * Marks a failed payout as paid in one click, with undo. The payout keeps its place in the list even if the list is
 * filtered by status: otherwise the next click would hit the row that moved up.
 */
export function MarkPaid({ payout, ...rest }: { payout: Payout } & Omit<ButtonProps, 'onClick' | 'action'>) {
  const [update] = useUpdate<Payout>()
  const queryClient = useQueryClient()
  const notify = useNotify()
  const money = useMoney()
  const may = useCan()('payouts.edit')
  const canBePaid = useIsOpen(payout, 'person')
  // Once it was marked here the button stays, and with it the focus: neither what the server lists nor the order in which
  // the answer and the changed record are shown may take it away.
  const wasMarkedHere = useRef(false)
  const isPaid = payout.status === 'paid'
  if (!may || !(canBePaid || wasMarkedHere.current)) return null
  const act = async () => {
    const status = isPaid ? 'failed' : 'paid'
    const before = wasMarkedHere.current
    wasMarkedHere.current = true
    const meta = { seen: ['affiliate_id', 'amount', 'referrals'] }
    const change = { id: payout.id, data: { ...payout, status }, previousData: payout, meta } as const
    try {
      await update('payouts', change, { returnPromise: true })
    } catch (error) {
      wasMarkedHere.current = before
      await queryClient.invalidateQueries({ queryKey: ['payouts'] })
      throw error
    }
    notify(`Payout ${payout.id} of ${money.full(payout.amount)} is ${status}${isPaid ? ' again' : ' now'}`, {
      type: 'success',
    })
    await Promise.all(affected(payout.id).map(queryKey => queryClient.invalidateQueries({ queryKey })))
  }
  return (
    <ActionButton
      size="small"
      variant="outlined"
      {...rest}
      action="Mark as paid"
      subject={`payout ${payout.id}`}
      done={isPaid}
      act={act}
    />
  )
}

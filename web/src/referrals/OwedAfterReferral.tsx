import { Typography } from '@mui/material'
import { useRecordContext } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { useOwed } from '../ledger/owed.ts'
import { amountOf, unitsOf } from '../payouts/sum.ts'
import { useMoney } from '../ui/format.ts'
import type { Referral } from './referral.ts'

/**
 * Types whose amount may raise or lower the balance: the form asks for the direction, a stored referral has it as its
 * sign.
 */
export const hasDirection = (type: unknown) => type === 'refund' || type === 'write_off'

type Typed = Partial<Pick<Referral, 'affiliate_id' | 'amount' | 'status' | 'type'>> & { owed?: string }

/** The balance of the affiliate now, and after the referral is saved. */
export function OwedAfterReferral() {
  const money = useMoney()
  const before = useRecordContext<Referral>()
  const typed: Typed = useWatch()
  const owed = useOwed(typed.affiliate_id ?? 0)
  const amount = signedUnitsOf(typed, money.decimals)
  if (owed === undefined || amount === undefined) return null
  const counted = before?.id && before.affiliate_id === typed.affiliate_id && before.status === 'unpaid'
  const replaced = counted ? unitsOf(before.amount, money.decimals)! : 0n
  const after = owed - replaced + (typed.status === 'unpaid' ? amount : 0n)
  const text = (units: bigint) => money.full(amountOf(units, money.decimals))
  return (
    <Typography role="status" variant="body2">
      Owed now: {text(owed)}. Owed after it: <strong>{text(after)}</strong>.
      {after < 0n && ' Below 0: it is taken out of what is earned next.'}
    </Typography>
  )
}

function signedUnitsOf({ amount, type, owed }: Typed, decimals: number): bigint | undefined {
  const units = unitsOf(amount ?? '', decimals)
  // Where the form asks for the direction, it refuses a sign.
  const isRefused = units !== undefined && units < 0n && owed !== undefined
  if (units === undefined || isRefused) return undefined
  return owed === 'less' && hasDirection(type) ? -units : units
}

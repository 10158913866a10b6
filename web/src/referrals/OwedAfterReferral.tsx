import { Typography } from '@mui/material'
import { useWatch } from 'react-hook-form'
import { ChangedMeanwhile } from '../ledger/ChangedMeanwhile.tsx'
import { useOwedWith } from '../ledger/owed.ts'
import { amountOf, unitsOf } from '../payouts/sum.ts'
import { useMoney } from '../ui/format.ts'
import { referrals } from './pages.ts'
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
  const { affiliate_id = 0, status, type, ...typed }: Typed = useWatch()
  const read = useOwedWith<Referral>(referrals, affiliate_id)
  const units = signedUnitsOf({ type, ...typed }, money.decimals)
  if (!read) return null
  const { owed, now, differences } = read
  // An amount that is none is no change yet.
  const amount = units === undefined ? {} : { amount: amountOf(units, money.decimals) }
  const decided = { affiliate_id, status, type, ...amount }
  const saved = read.savedOf(decided)
  const owedOf = (referral: Typed | undefined) =>
    referral?.affiliate_id === affiliate_id && referral.status === 'unpaid'
      ? unitsOf(referral.amount ?? '', money.decimals)!
      : 0n
  const text = (sum: bigint) => money.full(amountOf(sum, money.decimals))
  const isShown = units !== undefined && saved.affiliate_id === affiliate_id
  const after = isShown ? owed - owedOf(now) + owedOf(saved) : 0n
  return (
    <>
      <ChangedMeanwhile differences={differences} changed={read.changedIn(decided)} />
      {isShown && (
        <Typography role="status" variant="body2">
          Owed now: {text(owed)}. Owed after it: <strong>{text(after)}</strong>.
          {after < 0n && ' Below 0: it is taken out of what is earned next.'}
        </Typography>
      )}
    </>
  )
}

function signedUnitsOf({ amount, type, owed }: Typed, decimals: number): bigint | undefined {
  const units = unitsOf(amount ?? '', decimals)
  // Where the form asks for the direction, it refuses a sign.
  const isRefused = units !== undefined && units < 0n && owed !== undefined
  if (units === undefined || isRefused) return undefined
  return owed === 'less' && hasDirection(type) ? -units : units
}

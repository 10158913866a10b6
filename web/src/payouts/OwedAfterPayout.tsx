import { Alert, Typography } from '@mui/material'
import { useWatch } from 'react-hook-form'
import { useOwed } from '../ledger/owed.ts'
import { type Money, useMoney } from '../ui/format.ts'
import type { Payout } from './payout.ts'
import { amountOf, numbersIn, sumOf, unitsOf } from './sum.ts'
import { useUnpaid } from './UnpaidReferrals.tsx'

/** Effect of an unsaved payout on the balance: the referrals it pays lower it, its amount does not. */
export function OwedAfterPayout() {
  const money = useMoney()
  const typed: Partial<Payout> = useWatch()
  const affiliateId = typed.affiliate_id ?? 0
  const owed = useOwed(affiliateId)
  const { data } = useUnpaid(affiliateId)
  const amount = unitsOf(typed.amount ?? '', money.decimals)
  if (owed === undefined || !data || amount === undefined || typed.status !== 'paid') return null
  const numbers = numbersIn(typed.referrals)
  const paid = data.filter(({ id }) => numbers.includes(id))
  const sum = unitsOf(sumOf(paid), money.decimals)!
  const stays = `Owed after it: ${money.full(amountOf(owed - sum, money.decimals))}.`
  const warnings = warningsOf({ amount, owed, sum, named: numbers.length, known: paid.length }, money)
  if (warnings.length === 0) {
    return (
      <Typography role="status" variant="body2">
        {stays}
      </Typography>
    )
  }
  return (
    <Alert severity="warning" role="status">
      {warnings.join(' ')} {stays}
    </Alert>
  )
}

interface Effect {
  amount: bigint
  owed: bigint
  /** Sum of the referrals that it pays. */
  sum: bigint
  /** Referral numbers in the form, and how many of them are unpaid referrals. */
  named: number
  known: number
}

function warningsOf({ amount, owed, sum, named, known }: Effect, money: Money): string[] {
  const text = (units: bigint) => money.full(amountOf(units, money.decimals))
  const warnings: string[] = []
  if (named === 0 && owed > 0n) {
    warnings.push(`No referral is ticked: ${text(owed)} stays owed, and the next payout run pays it.`)
  }
  if (amount > 0n && amount > owed)
    warnings.push(`${text(amount)} is more than the ${text(owed)} that is owed.`)
  if (named > 0 && named === known && amount !== sum) {
    warnings.push(differenceText(amount > sum, text(amount > sum ? amount - sum : sum - amount)))
  }
  if (known < named) {
    warnings.push('Referrals that are not listed above are named: the amount is not compared with theirs.')
  }
  return warnings
}

/** A difference stays where it is in the ledger: nothing pays it later, and nothing is set against it. */
function differenceText(isMore: boolean, difference: string): string {
  const than = 'than the referrals that are ticked, which all become paid'
  return isMore
    ? `The amount is ${difference} more ${than}: no later payout is lower for it.`
    : `The amount is ${difference} less ${than}: no later payout pays the ${difference}.`
}

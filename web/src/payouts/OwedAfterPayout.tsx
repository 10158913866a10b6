import { Alert, Typography } from '@mui/material'
import { useRecordContext } from 'react-admin'
import { useWatch } from 'react-hook-form'
import { useOwed } from '../ledger/owed.ts'
import { type Money, useMoney } from '../ui/format.ts'
import type { Payout } from './payout.ts'
import { amountOf, numbersIn, sumOf, unitsOf } from './sum.ts'
import { usePaidBy, useUnpaid } from './UnpaidReferrals.tsx'

/**
 * Effect of an unsaved payout, or of unsaved changes of one, on the balance: the referrals it pays lower it, its amount does
 * not.
 */
export function OwedAfterPayout() {
  const money = useMoney()
  const stored = useRecordContext<Payout>()
  const before = stored?.id ? stored : undefined
  const typed: Partial<Payout> = useWatch()
  const without = useWithout(typed.affiliate_id ?? 0, before)
  const amount = unitsOf(typed.amount ?? '', money.decimals)
  const isFailed = typed.status !== 'paid'
  if (!without || amount === undefined || (before ? isUnchanged(before, typed, amount, money) : isFailed)) {
    return null
  }
  const { owed, referrals } = without
  const numbers = isFailed ? [] : numbersIn(typed.referrals)
  const paid = referrals.filter(({ id }) => numbers.includes(id))
  const sum = unitsOf(sumOf(paid), money.decimals)!
  const stays = `Owed after it: ${money.full(amountOf(owed - sum, money.decimals))}.`
  const effect = { amount, owed, sum, named: numbers.length, known: paid.length }
  const warnings = isFailed ? [] : warningsOf(effect, before ? ofStored : ofNew, money)
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

/** What is owed but for the payout, and which referrals it can pay; undefined until that is loaded. */
function useWithout(affiliateId: number, before: Payout | undefined) {
  const { decimals } = useMoney()
  const owed = useOwed(affiliateId)
  const { data: unpaid } = useUnpaid(affiliateId)
  const { data: paidByIt } = usePaidBy(before)
  if (owed === undefined || !unpaid || (before && !paidByIt)) return undefined
  const own = (paidByIt ?? []).filter(referral => referral.affiliate_id === affiliateId)
  return { owed: owed + unitsOf(sumOf(own), decimals)!, referrals: [...own, ...unpaid] }
}

function isUnchanged(before: Payout, typed: Partial<Payout>, amount: bigint, { decimals }: Money): boolean {
  return (
    unitsOf(before.amount, decimals) === amount &&
    before.status === typed.status &&
    before.affiliate_id === typed.affiliate_id &&
    numbersIn(before.referrals).join() === numbersIn(typed.referrals).join()
  )
}

/** What the form calls the referrals that it pays. */
const ofNew = {
  none: 'No referral is ticked',
  all: 'the referrals that are ticked, which all become paid',
  unknown: 'Referrals that are not listed above are named',
}
const ofStored = {
  none: 'No referral is named',
  all: 'the referrals that are named, which are all paid by it',
  unknown: 'Referrals are named that are not known as unpaid ones of this affiliate',
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

function warningsOf(
  { amount, owed, sum, named, known }: Effect,
  words: typeof ofNew,
  money: Money,
): string[] {
  const text = (units: bigint) => money.full(amountOf(units, money.decimals))
  const warnings: string[] = []
  if (named === 0 && owed > 0n) {
    warnings.push(`${words.none}: ${text(owed)} stays owed, and the next payout run pays it.`)
  }
  if (amount > 0n && amount > owed)
    warnings.push(`${text(amount)} is more than the ${text(owed)} that is owed.`)
  if (named > 0 && named === known && amount !== sum) {
    const difference = text(amount > sum ? amount - sum : sum - amount)
    warnings.push(differenceText(amount > sum, difference, words.all))
  }
  if (known < named) {
    warnings.push(`${words.unknown}: the amount is not compared with theirs.`)
  }
  return warnings
}

/** A difference stays where it is in the ledger: nothing pays it later, and nothing is set against it. */
function differenceText(isMore: boolean, difference: string, all: string): string {
  return isMore
    ? `The amount is ${difference} more than ${all}: no later payout is lower for it.`
    : `The amount is ${difference} less than ${all}: no later payout pays the ${difference}.`
}
